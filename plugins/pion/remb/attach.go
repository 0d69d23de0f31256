package remb

import (
	"regexp"
	"strings"

	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"
)

// Attach puts the Receiver into what an API is made from, after the codecs were registered and before other
// interceptors are: goog-remb and abs-send-time into the description, itself into the way of packets. Buffers of a
// BufferFactory that was set before stay in use. Beside transport-cc, RemoteEstimate goes out with each REMB
// (docs/remb.md).
func (r *Receiver) Attach(settings *webrtc.SettingEngine, media *webrtc.MediaEngine, registry *interceptor.Registry) error {
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeVideo, webrtc.RTPCodecTypeAudio} {
		media.RegisterFeedback(webrtc.RTCPFeedback{Type: webrtc.TypeRTCPFBGoogREMB}, kind)
		extension := webrtc.RTPHeaderExtensionCapability{URI: absSendTimeURI}
		if err := media.RegisterHeaderExtension(extension, kind); err != nil {
			return err
		}
	}
	settings.BufferFactory = bufferFactory(r, settings.BufferFactory)
	registry.Add(r)
	return nil
}

var (
	videoCodec = regexp.MustCompile(`(?m)^a=rtpmap:(\d+) (?:VP8|VP9|AV1|H264|H265)/90000\r?$`)
	// kbps: where to begin, and a bound above all that a REMB will say.
	startBitrate = "x-google-start-bitrate=1000;x-google-max-bitrate=20000"
)

// FollowREMBAtOnce is an answer as it is to be sent to a Chromium: its own rate, which bounds what REMB can raise, begins
// at 1 Mbps, and it probes three and six times of that, which would flood slow paths if it were higher.
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
