// Edits of quickjs.c.
const quick = (find, replace) => ({ file: 'quickjs.c', find, replace });

export default {
  title: 'functions of the library keep no names of variables',
  why: `The names of local variables serve direct eval and messages about uninitialized variables; Node's library has neither. Eleven thousand functions
hold some ten thousand names that nothing else uses, and their scopes. While source text is stripped (patch 50) these go too: the image is smaller, and
what is left of a variable's record compresses to nothing.`,
  edits: [
    quick(
      '        b->var_count = fd->var_count;\n        b->arg_count = fd->arg_count;\n',
      `        if (js_strip_source) {
            for (int i = 0; i < fd->arg_count + fd->var_count; i++) {
                JSVarDef *vd = &b->vardefs[i];
                JS_FreeAtom(ctx, vd->var_name);
                vd->var_name = JS_ATOM_NULL;
                vd->scope_level = vd->scope_next = vd->func_pool_idx = 0;
            }
        }
        b->var_count = fd->var_count;
        b->arg_count = fd->arg_count;
`,
    ),
    quick(
      '        memcpy(b->closure_var, fd->closure_var, b->closure_var_count * sizeof(*b->closure_var));\n    }\n    js_free(ctx, fd->closure_var);',
      `        memcpy(b->closure_var, fd->closure_var, b->closure_var_count * sizeof(*b->closure_var));
        for (int i = 0; js_strip_source && i < b->closure_var_count; i++) {
            JS_FreeAtom(ctx, b->closure_var[i].var_name);
            b->closure_var[i].var_name = JS_ATOM_NULL;
        }
    }
    js_free(ctx, fd->closure_var);`,
    ),
  ],
};
