#!/usr/bin/env bash
# Check the scripts of the pages with eslint and tsc. npm installs both on first use, into
# node_modules; where it cannot, this says so and is no error: the pages do not need npm.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "The page scripts were not checked: $1."
  exit 0
}

stamp=node_modules/.installed
if [[ ! $stamp -nt package.json ]]; then
  command -v npm >/dev/null || skip "npm is missing"
  echo "Installing eslint and typescript..."
  npm install --silent --engine-strict --ignore-scripts --no-package-lock --no-audit --no-fund \
    --fetch-retries=1 \
    || skip "npm could not install eslint and typescript"
  touch "$stamp"
fi
node_modules/.bin/eslint src
node_modules/.bin/tsc
