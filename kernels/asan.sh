#!/bin/sh
# Runs the tests of the native code under AddressSanitizer and UndefinedBehaviorSanitizer, in a build of its own.
# Usage: kernels/asan.sh [python]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-$root/.venv/bin/python}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
flags="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"
"$python" -m cmake -S "$root/kernels" -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$flags"
"$python" -m cmake --build "$build" --parallel
cd "$root"
LD_PRELOAD="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libubsan.so) $(c++ -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 QRN_NATIVE="$build/_native.so" \
  "$python" -m pytest -q tests/scan tests/test_fused_reader.py
