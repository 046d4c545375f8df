#!/bin/sh
# Runs the tests of the native code under sanitizers, in a separate build:
#   kernels/asan.sh [address,undefined | thread [tests …]]
# Needs a C++ compiler with its sanitizers and the project's .venv (or PYTHON); no cmake.
set -eu
sanitizers=${1:-address,undefined}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- tests/scan tests/native
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-$root/.venv/bin/python}
compiler=${CXX:-c++}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

flags="-std=c++17 -fPIC -fvisibility=hidden -ffp-contract=fast -fno-math-errno -fno-trapping-math -Wno-psabi -g -O1
  -fno-omit-frame-pointer -fsanitize=$sanitizers -fno-sanitize-recover=all"
for source in library check dlpack plan pool; do
  "$compiler" $flags -c "$root/kernels/$source.cpp" -o "$build/$source.o"
done
# Name, bytes of a vector, compiler flags: as in CMakeLists.txt.
variant() {
  name=$1 bytes=$2
  shift 2
  "$compiler" $flags "-DQRN_VARIANT=$name" "-DQRN_VECTOR_BYTES=$bytes" "$@" -c "$root/kernels/variant.cpp" -o "$build/$name.o"
}
variant baseline 16
if [ "$(uname -m)" = x86_64 ]; then
  variant avx2 32 -mavx2 -mfma
  variant avx512 64 -mavx512f -mavx512vl -mavx2 -mfma -mprefer-vector-width=512
fi
"$compiler" -shared "-fsanitize=$sanitizers" "$build"/*.o -pthread -o "$build/_native.so"

# Threads after a fork are ours to make safe, and a size that cannot be had is an error to be reported, not the end.
tsan=ignore_noninstrumented_modules=1:die_after_fork=0:allocator_may_return_null=1

preload=
for library in $(echo "$sanitizers" | sed 's/address/asan/; s/undefined/ubsan/; s/thread/tsan/; s/,/ /g') stdc++; do
  preload="$preload $("$compiler" -print-file-name="lib$library.so")"
done
cd "$root"
LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 TSAN_OPTIONS=$tsan \
  QRN_NATIVE="$build/_native.so" "$python" -m pytest -q "$@"
