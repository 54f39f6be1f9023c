#!/bin/sh
# Writes config/pyconfig.h and config/core-units.txt: the results of CPython's `configure`, which
# the build cannot run, because its compiler is a WebAssembly program. A maintainer runs this script
# after a change of CPython's version, of the clang package, or of config/config.site.
#
#   packages/python/build/configure.sh SOURCE CLANG_RESOURCES BUILD_PYTHON
#
# SOURCE is the folder of CPython's source. CLANG_RESOURCES is the folder with the unpacked
# gen/llvm-resources.tar of @yowasp/clang: the guest's own libc decides the results. BUILD_PYTHON is
# a native Python of the same minor version. The script needs sh, make, and a native clang, wasm-ld
# and llvm-ar of version 19 or later on the PATH.
set -eu
source=$(realpath "$1")
resources=$(realpath "$2")
python=$(realpath "$3")
config=$(dirname "$(realpath "$0")")/../config
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A sysroot with the guest's libc, in the layout that a native clang expects.
mkdir -p "$work/sysroot/include" "$work/sysroot/lib" "$work/resources/lib/wasm32-unknown-wasip1" "$work/build"
ln -s "$resources/include/wasm32-wasip1" "$work/sysroot/include/wasm32-wasip1"
ln -s "$resources/lib/wasm32-wasip1" "$work/sysroot/lib/wasm32-wasip1"
ln -s "$(clang -print-resource-dir)/include" "$work/resources/include"
for name in wasm32-unknown-wasip1/libclang_rt.builtins.a wasip1/libclang_rt.builtins-wasm32.a; do
  mkdir -p "$(dirname "$work/resources/lib/$name")"
  cp "$(find "$resources" -name libclang_rt.builtins.a | head -n 1)" "$work/resources/lib/$name"
done

compiler="clang --target=wasm32-wasip1 --sysroot=$work/sysroot -resource-dir=$work/resources"
cd "$work/build"
CONFIG_SITE="$source/Tools/wasm/config.site-wasm32-wasi" CC="$compiler" CPP="$compiler -E" \
  AR=llvm-ar RANLIB=true PKG_CONFIG=false HOSTRUNNER=true CFLAGS="-msimd128 -mno-bulk-memory" OPT="-O3 -DNDEBUG" \
  "$source/configure" --host=wasm32-wasip1 --build="$("$source/config.guess")" --with-build-python="$python" \
  --disable-test-modules --with-pymalloc

cp pyconfig.h "$config/pyconfig.h"
# The units of the interpreter without its built-in modules (build/modules.mjs lists these).
cat > units.mk <<'MAKE'
include Makefile
units:
	@printf '%s\n' $(PARSER_OBJS) $(OBJECT_OBJS) $(PYTHON_OBJS) $(MODULE_OBJS)
MAKE
make -s -f units.mk units | sed -e 's/\.o$/.c/' -e '/^Modules\/config\.c$/d' | sort > "$config/core-units.txt"
