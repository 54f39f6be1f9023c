#!/bin/sh
# RUSTC_WORKSPACE_WRAPPER of scripts/fuzz.mjs: compiles the crates of the workspace with the
# coverage counters that libFuzzer reads, and with the checks of a debug build. Dependencies are
# compiled as in other builds. Stable Rust has LLVM's pass, but no option of its own for the pass.
case " $* " in
  *" --crate-name build_script_"* | *" --crate-type proc-macro "* | *" --print="* | *" -vV "*) exec "$@" ;;
esac
exec "$@" -C passes=sancov-module \
  -C llvm-args=-sanitizer-coverage-level=4 \
  -C llvm-args=-sanitizer-coverage-inline-8bit-counters \
  -C llvm-args=-sanitizer-coverage-pc-table \
  -C llvm-args=-sanitizer-coverage-trace-compares \
  -C codegen-units=1 -C debug-assertions=on -C overflow-checks=on
