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
# The users of the images read them; nobody else gets into the folder.
chmod 444 settings secret_keys cursor_keys keystore_password admin_password database_*
# The operator service writes keystores and exports, so its user must own their folders.
if test "$(id -u)" = 0; then
  chown 65532:65532 keystores admin output
else
  echo "For docker compose: export TALLYSTICK_USER=$(id -u):$(id -g)"
fi
