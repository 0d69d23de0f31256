#!/usr/bin/env bash
# An end of a call over mediasoup, for `weir call --sender 'end.sh DIRECTION' --receiver 'end.sh DIRECTION'`. A Chromium
# publishes three layers, and another one subscribes; the server is with the publisher (downlink: the link is in front of
# the subscriber) or with the subscriber (uplink). Labels: weir; gcc, mediasoup as it is; gcc-remb, mediasoup's own
# estimator at the receiver, for the uplink; observe, gcc with Weir beside it.
# The Makefile builds what it runs; Chromium is the one in CHROMIUM.
set -euo pipefail
cd "$(dirname "$0")"
readonly build=$PWD/../../../build/plugins/mediasoup
missing() { echo "plugins/mediasoup: $1" >&2; exit 3; }
[[ -x $build/out/mediasoup-worker && -e $build/room/client.js ]] || missing "no worker: make -C plugins/mediasoup room"
source ../../browser/end.sh
direction=${1:?} role=$WEIR_CALL_ROLE label=$WEIR_CALL_LABEL host=$WEIR_LINK_FAR query='' remb=''
case $direction in
  downlink) serves=sender ;;
  uplink) serves=receiver ;;
  *) echo "plugins/mediasoup: no direction $direction: downlink or uplink" >&2; exit 2 ;;
esac
model=$PWD/../../../estimator/models/weir.onnx
unset WEIR_MODEL WEIR_OBSERVE
case $label in
  weir | observe)
    # The logs of both estimators are among the files of the call.
    export WEIR_MODEL=$model WEIR_OBSERVE=$WEIR_CALL_FOLDER
    [[ $label == observe ]] || echo 1 >"$WEIR_OBSERVE/in_charge"
    ;;
  gcc) ;;
  gcc-remb) remb=remb ;;
  *) echo "plugins/mediasoup: no label $label: weir, gcc, gcc-remb or observe" >&2; exit 2 ;;
esac
if [[ $role == "$serves" ]]; then
  host=$WEIR_LINK_LOCAL
  export MEDIASOUP_WORKER_BIN=$build/out/mediasoup-worker DEBUG='mediasoup:WARN* mediasoup:ERROR*'
  node "$build/room/server.mjs" "$host" $remb >&2 &
fi
[[ $role == receiver && $direction == downlink ]] && query+="&wait=10"
[[ -z $remb ]] || query+="&remb"
open_page "file://$build/room/end.html?role=$role&server=http://$host:4443$query"
wait -n
