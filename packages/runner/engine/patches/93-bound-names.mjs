export default {
  title: 'the name of a bound function is a rope',
  why: `bind makes the name "bound " + name by copying. A chain of a hundred thousand bound functions then needs gigabytes for its names, where V8 shares their
parts. A rope shares them here; calling such a chain is a RangeError like any recursion that is too deep.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '    name1 = JS_ConcatString3(ctx, "bound ", name1, "");',
      replace: '    name1 = JS_ConcatString(ctx, js_new_string8(ctx, "bound "), name1);',
    },
  ],
};
