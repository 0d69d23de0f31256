# For scripts that are an end of a call over a server (docs/calls.md, Any other stack); they source it once `missing`
# ends them with a message. It finds Chromium, in CHROMIUM or as chromium, and makes the temporary $folder. Of its own
# it uses $folder/profile. A signal stops all jobs.
chromium=$(command -v "${CHROMIUM:-chromium}") || missing "Chromium is missing: apt-get install chromium"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; wait' TERM INT

# Opens a page with end.js, in the background. Its messages, lines of its console, go to stdout, all else to stderr.
open_page() {
  "$chromium" --headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
    --autoplay-policy=no-user-gesture-required --disable-background-timer-throttling --disable-renderer-backgrounding \
    --disable-features=WebRtcHideLocalIpsWithMdns --enable-logging=stderr --user-data-dir="$folder/profile" "$1" \
    > >(sed -un 's/.*CONSOLE.*\] "\({"type".*}\)", source: .*/\1/p;t;w /dev/stderr') 2>&1 &
}
