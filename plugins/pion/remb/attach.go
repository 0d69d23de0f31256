package remb

import (
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

// RegisterDefaultInterceptors is webrtc.RegisterDefaultInterceptors without transport-cc. A packet is requested at most
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

var (
	videoCodec = regexp.MustCompile(`(?m)^a=rtpmap:(\d+) (?:VP8|VP9|AV1|H264|H265)/90000\r?$`)
	// kbps: where to begin, and a bound above all that a REMB will say.
	startBitrate = "x-google-start-bitrate=1500;x-google-max-bitrate=20000"
)

// FollowREMBAtOnce is an answer as it is to be sent to a Chromium: up to 1.5 Mbps it then follows REMB at once in both
// directions, where else, and above, it grows by 8 % a second. It encodes its first key frame for that rate too, before
// it hears REMB, which is why it is not higher.
func FollowREMBAtOnce(answer string) string {
	for _, codec := range videoCodec.FindAllStringSubmatch(answer, -1) {
		line := "a=fmtp:" + codec[1] + " "
		if strings.Contains(answer, line) {
			answer = strings.ReplaceAll(answer, line, line+startBitrate+";")
		} else {
			mapping := strings.TrimSuffix(codec[0], "\r")
			answer = strings.ReplaceAll(answer, mapping, mapping+"\r\n"+line+startBitrate)
		}
	}
	return answer
}
