#!/usr/bin/env bash
# An end of a call over Janus, for `weir call --sender plugins/janus/call/end.sh --receiver plugins/janus/call/end.sh`.
# The sender is a Chromium that publishes to VideoRoom over the link. The receiver is Janus and, without a link, a
# Chromium that subscribes. Labels: weir, and videoroom, which is Debian's VideoRoom alone, without a limit.
# OBSERVE=FOLDER lets Weir observe under the label videoroom, and takes the logs. TWCC_PERIOD is the interval of Janus's
# transport-cc feedback, ms, by default 50; Janus's default is 200. Chromium is the one in CHROMIUM.
set -euo pipefail
cd "$(dirname "$0")"
readonly plugin=$PWD/../../../build/janus/libjanus_weir.so
missing() { echo "plugins/janus: $1" >&2; exit 3; }
source ../../browser/end.sh
label=$WEIR_CALL_LABEL role=$WEIR_CALL_ROLE host=$WEIR_LINK_FAR
share=1
case $label in
  weir) ;;
  videoroom) share=0 ;;
  *) echo "plugins/janus: no label $label: weir or videoroom" >&2; exit 2 ;;
esac
start_janus() {
  local videoroom
  videoroom=$(dpkg -L janus 2>/dev/null | grep '/libjanus_videoroom\.so$') ||
    missing "Debian's Janus is missing: apt-get install janus"
  [[ -f $plugin ]] || missing "no libjanus_weir.so: make -C plugins/janus build"
  mkdir "$folder"/{plugins,configs,events,loggers}
  cat >"$folder/configs/janus.jcfg" <<CONFIG
general: {
  plugins_folder = "$folder/plugins"
  events_folder = "$folder/events"
  loggers_folder = "$folder/loggers"
  session_timeout = 0
}
media: { twcc_period = ${TWCC_PERIOD:-50} }
transports: {
  disable = "libjanus_http.so,libjanus_pfunix.so,libjanus_mqtt.so,libjanus_rabbitmq.so,libjanus_nanomsg.so"
}
CONFIG
  echo 'general: { json = "compact", ws = true, ws_port = 8188 }' >"$folder/configs/janus.transport.websockets.jcfg"
  echo 'room-1: { publishers = 2, videocodec = "vp8" }' >"$folder/configs/janus.plugin.videoroom.jcfg"
  if [[ $share == 0 && -z ${OBSERVE:-} ]]; then
    ln -s "$videoroom" "$folder/plugins/"
  else
    ln -s "$plugin" "$folder/plugins/"
    echo "general: { plugin = \"$videoroom\", in_charge = \"$share\", folder = \"${OBSERVE:-}\" }" \
      >"$folder/configs/janus.plugin.weir.jcfg"
  fi
  janus --configs-folder="$folder/configs" >&2 &
}

if [[ $role == receiver ]]; then
  start_janus
  host=$WEIR_LINK_LOCAL
fi
open_page "file://$PWD/end.html?role=$role&server=ws://$host:8188"
wait -n
