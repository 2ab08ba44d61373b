#!/bin/sh
# Makes a challenge in the database of the pages, or updates it: challenge.sh DEFINITION.
# Further arguments go to 'reelscore challenge new'.
set -eu
umask 077
definition=${1:?name the definition, such as /challenge/lsmdc.toml}
shift
exec reelscore challenge new "$definition" "${REELSCORE_DATABASE:-/data/campaigns.db}" "$@"
