#!/usr/bin/env bash
# run.sh bundle|rules|pages WEB WORK MUSCOPE: one part of the tests of web/. Packages are installed below WORK, once for each
# lock file; nothing is written to the sources.
set -euo pipefail
part=$1 web=$2 work=$3
export MUSCOPE=$4 MUSCOPE_SOURCE=${2%/web}

skip() {
  echo "SKIPPED: $*"
  exit 0
}

for tool in node npm; do command -v "$tool" > /dev/null || skip "$tool was not found"; done
(($(node -p 'process.versions.node.split(".")[0]') >= 18)) || skip "node is older than version 18"
if [[ $part == pages ]]; then
  for name in chromium chromium-browser google-chrome; do
    CHROMIUM=$(command -v "$name") && break
  done || skip "chromium was not found"
  export CHROMIUM
fi

mkdir -p "$work/packages" "$work/$part"
exec 8> "$work/lock"
flock 8
if ! cmp -s "$web/package-lock.json" "$work/packages/installed.json"; then
  cp "$web/package.json" "$web/package-lock.json" "$work/packages/"
  (cd "$work/packages" && npm ci --ignore-scripts --no-audit --no-fund > npm.log 2>&1 < /dev/null) ||
    skip "npm could not install the packages of web/ ($work/packages/npm.log)"
  cp "$web/package-lock.json" "$work/packages/installed.json"
fi
exec 8>&-

cd "$work/$part"
rm -rf src test node_modules
cp -r "$web"/{src,test,build.mjs,tsconfig.json,package.json} .
ln -s ../packages/node_modules node_modules
case $part in
  bundle)
    node_modules/.bin/tsc --noEmit
    node build.mjs "$PWD/report.html"
    cmp report.html "$web/dist/report.html" || {
      echo "web/dist/report.html is not what web/src gives: run (cd web && npm ci && npm run build) and commit it"
      exit 1
    }
    ;;
  rules | pages) node --test "test/$part.test.mjs" ;;
esac
