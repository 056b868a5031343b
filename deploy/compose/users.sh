#!/bin/sh
# Run once by the image of PostgreSQL, as the owner, on a new database: a user for each kind of process, in the group that
# `tallystick migrate` gives its rights to.
set -eu
secrets=${SECRETS_DIRECTORY:-/run/secrets}
for kind in api worker indexer operator; do
  PASSWORD=$(cat "$secrets/database_$kind")
  export PASSWORD
  psql -v ON_ERROR_STOP=1 -v user="${kind}_of_tallystick" -v group="tallystick_$kind" \
    --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
\getenv password PASSWORD
CREATE ROLE :"group" NOLOGIN;
CREATE ROLE :"user" LOGIN PASSWORD :'password' IN ROLE :"group";
SQL
done
