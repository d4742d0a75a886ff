# A client under test: `sh client.sh [<options of curl>]`; with LOOP, it repeats each request at once until it succeeds.
curl_once() {
  curl -sf -m 8 -o body "$@" -H "Authorization: Bearer $PETSTORE_API_KEY" -H 'Content-Type: application/json'
}
request() {
  left=${LOOP:-1}
  until curl_once "$@"; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || exit 1
  done
}
cd "$(mktemp -d)" || exit
pets=$PETSTORE_BASE_URL/pets
if [ "$PETSTORE_JOB" = read ]; then request "$@" "$pets"; else request "$@" "$pets" -d '{"name":"Rex","categoryId":1}'; fi
request "$@" "$pets/$(grep -o '"id": *[0-9]*' body | head -n 1 | grep -o '[0-9]*$')"
