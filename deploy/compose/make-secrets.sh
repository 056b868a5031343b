#!/bin/sh
# Makes the secrets of compose.yaml that are not there yet, and changes none that is. Run it where they shall be kept:
#   deploy/compose/make-secrets.sh
set -eu
umask 077
cd "${1:-$(dirname "$0")}"
mkdir -p secrets/keystores secrets/admin secrets/output
cd secrets
for name in secret_keys cursor_keys; do
  test -e $name || echo "$(date +%Y):$(openssl rand -base64 32)" > $name
done
# Its id must not be that of a key in secret_keys.
test -e node_keys || echo "node$(date +%Y):$(openssl rand -base64 32)" > node_keys
# Settings that compose.yaml does not name, one NAME=value a line.
test -e settings || : > settings
for name in keystore_password admin_password; do
  test -e $name || openssl rand -hex 24 > $name
done
for kind in owner api worker indexer operator; do
  test -e database_$kind || openssl rand -hex 24 | tr -d '\n' > database_$kind
  user=${kind}_of_tallystick
  test $kind = owner && user=tallystick
  test -e database_${kind}_url ||
    printf 'postgres://%s:%s@database/tallystick' $user "$(cat database_$kind)" > database_${kind}_url
done
# Files of compose keep their owner and mode in a container. So these belong to the user of the services, who alone reads them.
chmod 400 secret_keys cursor_keys node_keys keystore_password admin_password database_*_url
chmod 600 settings
# The image of PostgreSQL reads these as a user of its own; nobody else gets into the folder.
chmod 444 database_owner database_api database_worker database_indexer database_operator
# The operator service writes keystores and exports, so its user must own their folders.
if test "$(id -u)" = 0; then
  chown "${TALLYSTICK_USER:-65532:65532}" settings secret_keys cursor_keys node_keys keystore_password admin_password \
    database_*_url keystores admin output
else
  echo "The services must run as you, or they cannot read their secrets. In every shell for docker compose:"
  echo "  export TALLYSTICK_USER=$(id -u):$(id -g)"
fi
