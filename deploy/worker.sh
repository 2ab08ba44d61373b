#!/bin/sh
# Scores the submissions of challenges for pages that run with REELSCORE_SCORERS=0, on PostgreSQL.
# Arguments go to 'reelscore challenge worker'.
set -eu
exec reelscore challenge worker "${REELSCORE_DATABASE:?say the URL of the PostgreSQL database}" \
    --scorers "${REELSCORE_WORKER_SCORERS:-1}" "$@"
