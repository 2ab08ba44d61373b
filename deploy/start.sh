#!/bin/sh
# Starts the pages as a public server: what the container runs, and what runs without one.
# Arguments go to 'reelscore serve'. The environment says the rest:
#   REELSCORE_URL          the address people use, such as https://lab.example; needed
#   REELSCORE_DATABASE     a SQLite file, or the URL of a PostgreSQL database
#   REELSCORE_VIDEOS       the folder with the videos; left out where there is none
#   REELSCORE_SECRET_FILE  where the secret is kept; REELSCORE_SECRET goes before
#   REELSCORE_LISTEN       the address to listen at, and REELSCORE_PORT the port
#   REELSCORE_PROXY        the address of the proxy in front
#   REELSCORE_MAIL_FROM    the address that notices are sent from; none are sent without it
#   REELSCORE_SMTP         the mail server that takes them
#   REELSCORE_SCORERS      how many submissions to score at a time; 0 leaves them to workers
set -eu
umask 077
: "${REELSCORE_URL:?say the address people use, such as https://lab.example}"

videos=${REELSCORE_VIDEOS:-/videos}
if [ -d "$videos" ]; then
    set -- --videos "$videos" "$@"
fi
exec reelscore serve "${REELSCORE_DATABASE:-/data/campaigns.db}" \
    --public --url "$REELSCORE_URL" --scorers "${REELSCORE_SCORERS:-1}" \
    --secret-file "${REELSCORE_SECRET_FILE:-/data/secret}" \
    --host "${REELSCORE_LISTEN:-0.0.0.0}" --port "${REELSCORE_PORT:-8000}" \
    --mail-from "${REELSCORE_MAIL_FROM:-}" --proxy "${REELSCORE_PROXY:-127.0.0.1}" "$@"
