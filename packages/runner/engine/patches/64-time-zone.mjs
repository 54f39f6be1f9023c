export default {
  title: 'Local time by the TZ variable',
  why: `WASI's libc knows no time zones. The kernel has the zone database; the shim asks it (engine/shim/zone.c), only when TZ names a zone.
Offsets are seconds and not minutes, because local mean times of the nineteenth century have them, and a local time that a change of the clocks
leaves out or repeats is taken as the standard says (the offset before the change). \`toString\` ends with the zone's name, as V8's does.`,
  edits: [
    {
      file: 'quickjs.c',
      find: /static int getTimezoneOffset\(int64_t time\) \{\n#if defined\(_WIN32\)[\s\S]*?#endif \/\* NO_TM_GMTOFF \*\/\n#endif\n\}\n/g,
      replace: `/* seconds east of Greenwich at a time in ms, which is UTC or local */
static int32_t cf_zone_offset(int64_t ms, bool is_local);
static JSValue cf_zone_append(JSContext *ctx, JSValueConst date, const char *text, size_t len);
`,
    },
    {
      file: 'quickjs.c',
      find: `            tz = -getTimezoneOffset(d);
            d += tz * 60000;
`,
      replace: `            int32_t offset = cf_zone_offset(d, false);
            tz = offset / 60;
            d += (int64_t)offset * 1000;
`,
    },
    {
      file: 'quickjs.c',
      find: '        tv += getTimezoneOffset(ti) * 60000;\n',
      replace: '        tv -= (double)cf_zone_offset(ti, true) * 1000;\n',
    },
    {
      file: 'quickjs.c',
      find: '        return js_int64(getTimezoneOffset((int64_t)trunc(v)));\n',
      replace: '        return js_number(0 - cf_zone_offset((int64_t)trunc(v), false) / 60.0);\n',
    },
    {
      file: 'quickjs.c',
      find: '            /* XXX: tack the time zone code? */\n            break;\n',
      replace: '            return cf_zone_append(ctx, this_val, buf, pos);\n',
    },
  ],
};
