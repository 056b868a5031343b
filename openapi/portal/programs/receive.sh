# Follows the feed. The cursor is kept in a file, so nothing is missed when this program stops.
# After feed_restarted it begins with the oldest news.
touch news.cursor
while :; do
  PAGE=$(curl -sS --fail-with-body -G "$TALLYSTICK/news/v1/api/feed" -H "x-api-key: $TALLYSTICK_KEY" \
    -H "Prefer: wait=20" --data-urlencode "after=$(cat news.cursor)") || {
    case "$PAGE" in *feed_restarted*) : > news.cursor ;; *) echo "$PAGE" >&2 ;; esac
    sleep 5; continue
  }
  echo "$PAGE" | sed 's/},{"id"/}\n{"id"/g' | sed -n 's/.*"type":"\([^"]*\)".*"href":"\([^"]*\)".*/\1 \2/p'
  echo "$PAGE" | sed -n 's/.*"cursor":"\([^"]*\)","hasMore".*/\1/p' > news.cursor
done
