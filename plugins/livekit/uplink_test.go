package livekit

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/livekit/livekit-server/pkg/sfu/buffer"
	"github.com/livekit/protocol/logger"
	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/sdp/v3"
	"github.com/pion/transport/v3/packetio"
	"github.com/pion/webrtc/v4"
)

const absSendTimeURI = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"

// publisherAPI is what LiveKit makes a publisher's peer connection from.
type publisherAPI struct {
	settings webrtc.SettingEngine
	media    webrtc.MediaEngine
	registry interceptor.Registry
	buffers  *buffer.Factory
}

func newPublisherAPI(t *testing.T) *publisherAPI {
	t.Helper()
	p := &publisherAPI{buffers: buffer.NewFactoryOfBufferFactory(500, 200).CreateBufferFactory()}
	p.settings.BufferFactory = p.buffers.GetOrNew
	for _, codec := range []struct {
		kind       webrtc.RTPCodecType
		capability webrtc.RTPCodecCapability
		number     webrtc.PayloadType
	}{
		{webrtc.RTPCodecTypeAudio, webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2,
		}, 111},
		{webrtc.RTPCodecTypeVideo, webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000,
			RTCPFeedback: []webrtc.RTCPFeedback{{Type: webrtc.TypeRTCPFBTransportCC}},
		}, 96},
	} {
		parameters := webrtc.RTPCodecParameters{RTPCodecCapability: codec.capability, PayloadType: codec.number}
		if err := p.media.RegisterCodec(parameters, codec.kind); err != nil {
			t.Fatal(err)
		}
	}
	extension := webrtc.RTPHeaderExtensionCapability{URI: sdp.TransportCCURI}
	if err := p.media.RegisterHeaderExtension(extension, webrtc.RTPCodecTypeVideo); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestUplinkOfAServerWithAModel runs the tests below in a process that has a model and steers uplinks.
func TestUplinkOfAServerWithAModel(t *testing.T) {
	t.Setenv(uplinkVariable, "1")
	path := filepath.Join("..", "..", "estimator", "models", "weir.onnx")
	output, status := child(t, path, "TestWithAModel.*")
	if status != 0 || strings.Contains(output, "SKIP") {
		t.Errorf("status %d, %s", status, output)
	}
}

func needModel(t *testing.T) {
	t.Helper()
	if os.Getenv(modelVariable) == "" {
		t.Skip("TestUplinkOfAServerWithAModel runs it with a model")
	}
}

func TestWithoutWeirInChargeTheUplinkStaysLiveKits(t *testing.T) {
	if decidesUplinks() {
		t.Skip("Weir is in charge")
	}
	p := newPublisherAPI(t)
	const answer = "a=rtpmap:96 VP8/90000\r\n"
	if Uplink(&p.settings, &p.media, &p.registry, logger.GetLogger()) || Answer(answer) != answer {
		t.Error("Weir decides")
	}
	if _, ok := p.settings.BufferFactory(packetio.RTPBufferPacket, 1).(*buffer.Buffer); !ok {
		t.Error("the buffer is not LiveKit's")
	}
}

func TestAServerThatObservesOrSteersTheDownlinkAloneLeavesTheUplinkAsItIs(t *testing.T) {
	path := filepath.Join("..", "..", "estimator", "models", "weir.onnx")
	for name, variables := range map[string]map[string]string{
		"observes":       {observeVariable: t.TempDir(), uplinkVariable: "1"},
		"downlink alone": {},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range variables {
				t.Setenv(variable, value)
			}
			output, status := child(t, path, "TestWithoutWeirInChargeTheUplinkStaysLiveKits")
			if status != 0 || strings.Contains(output, "SKIP") {
				t.Errorf("status %d, %s", status, output)
			}
		})
	}
}

func TestWithAModelAnAnswerHasEveryLineThatREMBNeeds(t *testing.T) {
	needModel(t)
	publisher, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	defer publisher.Close()
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeAudio, webrtc.RTPCodecTypeVideo} {
		if _, err := publisher.AddTransceiverFromKind(kind); err != nil {
			t.Fatal(err)
		}
	}
	offer, err := publisher.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A browser's offer also has these.
	for _, codec := range []string{"a=rtpmap:96 ", "a=rtpmap:111 "} {
		offer.SDP = strings.Replace(offer.SDP, codec, "a=extmap:14 "+absSendTimeURI+"\r\n"+codec, 1)
	}
	offer.SDP = strings.Replace(offer.SDP, "a=rtpmap:111 ", "a=rtcp-fb:111 goog-remb\r\na=rtpmap:111 ", 1)
	p := newPublisherAPI(t)
	if !Uplink(&p.settings, &p.media, &p.registry, logger.GetLogger()) {
		t.Fatal("Weir does not decide")
	}
	server, err := webrtc.NewAPI(webrtc.WithSettingEngine(p.settings), webrtc.WithMediaEngine(&p.media),
		webrtc.WithInterceptorRegistry(&p.registry)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := server.SetRemoteDescription(offer); err != nil {
		t.Fatal(err)
	}
	answer, err := server.CreateAnswer(nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.SDP = Answer(answer.SDP)
	for line, count := range map[string]int{
		" " + absSendTimeURI: 2, " " + sdp.TransportCCURI: 2, "a=rtcp-fb:96 goog-remb": 1, "a=rtcp-fb:96 transport-cc": 1,
		"a=rtcp-fb:111 goog-remb": 1, "a=rtcp-fb:111 transport-cc": 1, "a=setup:passive": 2,
		"a=fmtp:96 x-google-start-bitrate=1000": 1,
	} {
		if got := strings.Count(answer.SDP, line); got != count {
			t.Errorf("%d lines with %q instead of %d:\n%s", got, line, count, answer.SDP)
		}
	}
}

type rtcpWriter chan rtcp.Packet

func (w rtcpWriter) Write(packets []rtcp.Packet, _ interceptor.Attributes) (int, error) {
	for _, packet := range packets {
		w <- packet
	}
	return 0, nil
}

func TestWithAModelPacketsInLiveKitsBuffersBringREMBRemoteEstimateAndFeedback(t *testing.T) {
	needModel(t)
	p := newPublisherAPI(t)
	if !Uplink(&p.settings, &p.media, &p.registry, logger.GetLogger()) {
		t.Fatal("Weir does not decide")
	}
	chain, err := p.registry.Build("")
	if err != nil {
		t.Fatal(err)
	}
	defer chain.Close()
	chain.BindRemoteStream(&interceptor.StreamInfo{
		SSRC: 7, MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000,
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: sdp.TransportCCURI, ID: 4}},
	}, nil)
	stream := p.settings.BufferFactory(packetio.RTPBufferPacket, 7)
	written := make(rtcpWriter, 1000)
	for number := range uint16(30) {
		packet := rtp.Packet{Header: rtp.Header{Version: 2, SSRC: 7, SequenceNumber: number, PayloadType: 96}}
		packet.Payload = make([]byte, 1000)
		if err := packet.SetExtension(4, binary.BigEndian.AppendUint16(nil, number)); err != nil {
			t.Fatal(err)
		}
		raw, err := packet.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Write(raw); err != nil {
			t.Fatal(err)
		}
	}
	chain.BindRTCPWriter(written)
	missing := map[string]bool{"REMB": true, "RemoteEstimate": true, "feedback": true}
	deadline := time.After(10 * time.Second)
	for len(missing) > 0 {
		select {
		case packet := <-written:
			switch packet := packet.(type) {
			case *rtcp.ReceiverEstimatedMaximumBitrate:
				delete(missing, "REMB")
			case *rtcp.TransportLayerCC:
				delete(missing, "feedback")
				if packet.PacketStatusCount != 30 {
					t.Errorf("feedback on %d packets", packet.PacketStatusCount)
				}
			case *rtcp.RawPacket:
				delete(missing, "RemoteEstimate")
			}
		case <-deadline:
			t.Fatalf("not sent: %v", missing)
		}
	}
	// LiveKit's buffer has the packets.
	if n, err := p.buffers.GetBuffer(7).Read(make([]byte, 1500)); n == 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
