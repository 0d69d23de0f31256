#!/usr/bin/env bash
# An end of a call over LiveKit, for `weir call --sender plugins/livekit/end.sh --receiver plugins/livekit/end.sh`. The
# sender is a Chromium that publishes three layers, the receiver one that subscribes. livekit-server is the sender's
# neighbor, so that the link is the downlink, and BESIDE others (2) subscribe without a link. With UPLINK=1 the server is
# the receiver's neighbor. Labels: weir; sendsidebwe and remotebwe for the downlink; gcc, the publisher's own estimator,
# for the uplink. The targets server and npm of the Makefile build the programs; Chromium is the one in CHROMIUM.
set -euo pipefail
cd "$(dirname "$0")"
readonly build=../../build/plugins
readonly server=$build/livekit/livekit-server-weir client=$build/livekit/node_modules/livekit-client/dist
missing() { echo "plugins/livekit: $1" >&2; exit 3; }
[[ -x $server && -d $client ]] || missing "no livekit-server or livekit-client: make -C plugins/livekit server npm"
source ../browser/end.sh
label=$WEIR_CALL_LABEL role=$WEIR_CALL_ROLE host=$WEIR_LINK_LOCAL
# For the uplink the subscriber gets the best layer that is there: its own path is no link.
server_at=sender beside=${BESIDE:-2} limits_downlink=true
[[ -z ${UPLINK:-} ]] || server_at=receiver beside=0 limits_downlink=false
unset WEIR_MODEL WEIR_UPLINK
case $label in
  weir)
    export WEIR_MODEL=$PWD/../../estimator/models/weir.onnx
    [[ -z ${UPLINK:-} ]] || export WEIR_UPLINK=1
    ;;
  sendsidebwe | remotebwe | gcc) ;;
  *) missing "no label $label: weir, sendsidebwe, remotebwe or gcc" ;;
esac
if [[ $role == "$server_at" ]]; then
  # Media over TCP would hide the link's losses.
  send_side=$([[ $label == remotebwe ]] && echo false || echo true)
  $server --dev --bind 0.0.0.0 --config-body "rtc: {node_ip: $host, allow_tcp_fallback: false,
    congestion_control: {enabled: $limits_downlink, allow_pause: false, use_send_side_bwe: $send_side}}" >&2 &
else
  host=$WEIR_LINK_FAR
fi
token() { $server --dev create-join-token --room weir --identity "$1" 2>/dev/null | sed -n 's/^Token: //p'; }
query="role=$role&token=$(token "$role")"
if [[ $role == sender ]]; then
  for ((i = 0; i < beside; i++)); do query+="&beside=$(token "beside$i")"; done
elif [[ $server_at == sender ]]; then
  # The subscriber joins once the publisher's own estimator has risen, so that all layers are there.
  query+="&wait_ms=10000"
fi
open_page "file://$PWD/end.html?$query&server=ws://$host:7880&client=$(realpath "$client")"
wait -n
