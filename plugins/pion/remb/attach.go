package remb

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/webrtc/v4"
)

// Attach puts the Receiver into what an API is made from, after the codecs were registered and before other
// interceptors are: goog-remb and abs-send-time into the description, itself into the way of packets. Transport-cc must
// not be registered beside it, or a browser takes the smaller of REMB and its own estimate.
func (r *Receiver) Attach(settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeVideo, webrtc.RTPCodecTypeAudio} {
		media.RegisterFeedback(webrtc.RTCPFeedback{Type: webrtc.TypeRTCPFBGoogREMB}, kind)
		extension := webrtc.RTPHeaderExtensionCapability{URI: absSendTimeURI}
		if err := media.RegisterHeaderExtension(extension, kind); err != nil {
			return err
		}
	}
	settings.BufferFactory = r.BufferFactory
	registry.Add(r)
	return nil
}

// RegisterDefaultInterceptors is webrtc.RegisterDefaultInterceptors without transport-cc. A packet is asked for at most
// twice: pion does not notice that a retransmission came on a stream of its own, and would ask for it for ever.
func RegisterDefaultInterceptors(media *webrtc.MediaEngine, registry *interceptor.Registry) error {
	const nacks = 2
	err := webrtc.ConfigureNackWithOptions(media, registry, []nack.GeneratorOption{nack.GeneratorMaxNacksPerPacket(nacks)})
	if err != nil {
		return err
	}
	if err := webrtc.ConfigureRTCPReports(registry); err != nil {
		return err
	}
	if err := webrtc.ConfigureSimulcastExtensionHeaders(media); err != nil {
		return err
	}
	return webrtc.ConfigureStatsInterceptor(registry)
}

var videoCodec = regexp.MustCompile(`(?m)^a=rtpmap:(\d+) (?:VP8|VP9|AV1|H264|H265)/90000\r?$`)

// FollowREMBAtOnce is an answer as it is to be sent to a Chromium. It begins at the Receiver's start rate, since the
// first REMB may come after its first key frame, and its bound is above all that a REMB will say: in its first two
// seconds it follows REMB at once in both directions, and from then on up to what it has reached and 8 % more a second.
func (r *Receiver) FollowREMBAtOnce(answer string) string {
	bitrates := fmt.Sprintf("x-google-start-bitrate=%d;x-google-max-bitrate=20000", r.startBps/1000)
	for _, codec := range videoCodec.FindAllStringSubmatch(answer, -1) {
		line := "a=fmtp:" + codec[1] + " "
		if strings.Contains(answer, line) {
			answer = strings.ReplaceAll(answer, line, line+bitrates+";")
		} else {
			mapping := strings.TrimSuffix(codec[0], "\r")
			answer = strings.ReplaceAll(answer, mapping, mapping+"\r\n"+line+bitrates)
		}
	}
	return answer
}
