#!/usr/bin/env bash
# Installs what pip cannot: a C++ compiler, Java (only to compare with the Java tools), PostgreSQL,
# Chromium, nginx and ffmpeg (only to test with them), clang (only to fuzz). Does nothing where it is there;
# says what it installs, or what to install where it may not.
set -euo pipefail

need() { # need COMMAND PACKAGES...
    local command=$1
    shift
    command -v "$command" >/dev/null && return
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        echo "Installing $* (for '$command')..."
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
    else
        echo "'$command' is missing; install it (Debian: sudo apt-get install $*)." >&2
        [[ "$command" =~ ^(java|postgres|chromium|nginx|ffmpeg)$ ]] # tests that need them are skipped
    fi
}

for wanted in "$@"; do
    case $wanted in
    compiler)
        need g++ g++
        python3 -c 'import venv, ensurepip' 2>/dev/null || need no-venv python3-venv python3-dev
        ;;
    java) need java default-jre-headless ;;
    postgresql)
        compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || need postgres postgresql
        ;;
    chromium) need chromium chromium ;;
    ffmpeg) need ffmpeg ffmpeg ;;
    nginx) [ -x /usr/sbin/nginx ] || need nginx nginx-light ;;
    clang)
        version=$(apt-cache depends clang 2>/dev/null | grep -oE 'clang-[0-9]+' | head -1)
        need clang++ clang "libclang-rt-${version#clang-}-dev"
        ;;
    *)
        echo "system_packages.sh: nothing is known of '$wanted'." >&2
        exit 2
        ;;
    esac
done
