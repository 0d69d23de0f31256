package livekit

import (
	"errors"
	"os"

	"github.com/livekit/protocol/logger"
	"github.com/pion/interceptor"
	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"

	weir "weir/pion"
	"weir/pion/remb"
)

// Uplink puts Weir into the peer connection of a publisher, before its API is made: the buffers report arrivals to it,
// and it sends REMB and transport-wide feedback. It returns false if LiveKit's own feedback stays in use: without
// WEIR_MODEL or WEIR_UPLINK, and with WEIR_OBSERVE.
func Uplink(
	settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry, log logger.Logger,
) bool {
	if !decidesUplinks() {
		return false
	}
	target := targetLog{logger: log, message: "weir: uplink target"}
	receiver, err := remb.New(remb.Options{
		Config: weir.Config{Model: model},
		// LiveKit's feedback waits for 20 packets, which are half a second of a slow publisher, and excludes audio.
		TransportFeedback: true,
		OnEstimate:        func(estimate weir.Estimate) { target.log(estimate.TargetRateBps, estimate.Reason) },
		OnError:           func(err error) { log.Debugw("weir: uplink", "error", err) },
	})
	if err == nil {
		// LiveKit registers transport-cc for video.
		media.RegisterFeedback(webrtc.RTCPFeedback{Type: webrtc.TypeRTCPFBTransportCC}, webrtc.RTPCodecTypeAudio)
		extension := webrtc.RTPHeaderExtensionCapability{URI: sdp.TransportCCURI}
		err = errors.Join(
			media.RegisterHeaderExtension(extension, webrtc.RTPCodecTypeAudio),
			settings.SetAnsweringDTLSRole(webrtc.DTLSRoleServer),
			receiver.Attach(settings, media, registry),
		)
	}
	if err != nil {
		log.Errorw("weir: no estimator of the uplink", err)
	}
	return err == nil
}

// Answer is a publisher's answer as it is to be sent: under Weir, a Chromium then follows REMB at once.
func Answer(answer string) string {
	if !decidesUplinks() {
		return answer
	}
	return remb.FollowREMBAtOnce(answer)
}

func decidesUplinks() bool {
	return model != nil && observed == nil && os.Getenv(uplinkVariable) != ""
}
