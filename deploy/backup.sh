#!/bin/sh
# Copies the database of the rating pages while they run, into a new file in REELSCORE_BACKUPS.
set -eu
exec reelscore campaign backup "${REELSCORE_DATABASE:-/data/campaigns.db}" \
    "${REELSCORE_BACKUPS:-/backups}"
