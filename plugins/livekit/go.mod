module weir/livekit

go 1.24.0

require (
	github.com/livekit/livekit-server v1.8.4
	github.com/livekit/protocol v1.34.0
	github.com/pion/interceptor v0.1.49
	github.com/pion/rtcp v1.2.19
	github.com/pion/transport/v3 v3.0.7
	github.com/prometheus/client_golang v1.20.5
	weir/pion v0.0.0
)

require (
	buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go v1.36.0-20241127180247-a33202765966.1 // indirect
	buf.build/go/protoyaml v0.3.1 // indirect
	cel.dev/expr v0.19.0 // indirect
	github.com/antlr4-go/antlr/v4 v4.13.0 // indirect
	github.com/benbjohnson/clock v1.3.5 // indirect
	github.com/bufbuild/protovalidate-go v0.8.0 // indirect
	github.com/dennwc/iters v1.0.1 // indirect
	github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect
	github.com/frostbyte73/core v0.1.1 // indirect
	github.com/fsnotify/fsnotify v1.8.0 // indirect
	github.com/google/cel-go v0.22.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jellydator/ttlcache/v3 v3.3.0 // indirect
	github.com/jxskiss/base62 v1.1.0 // indirect
	github.com/klauspost/compress v1.17.11 // indirect
	github.com/lithammer/shortuuid/v4 v4.2.0 // indirect
	github.com/livekit/mageutil v0.0.0-20230125210925-54e8a70427c1 // indirect
	github.com/livekit/mediatransportutil v0.0.0-20241220010243-a2bdee945564 // indirect
	github.com/livekit/psrpc v0.6.1-0.20250205181828-a0beed2e4126 // indirect
	github.com/nats-io/nats.go v1.39.0 // indirect
	github.com/nats-io/nkeys v0.4.10 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/pion/datachannel v1.6.3 // indirect
	github.com/pion/dtls/v3 v3.1.13 // indirect
	github.com/pion/ice/v4 v4.4.7 // indirect
	github.com/pion/mdns/v2 v2.2.2 // indirect
	github.com/pion/sctp v1.12.0 // indirect
	github.com/pion/srtp/v3 v3.1.3 // indirect
	github.com/pion/stun/v3 v3.0.0 // indirect
	github.com/pion/transport/v5 v5.1.1 // indirect
	github.com/pion/turn/v4 v4.0.0 // indirect
	github.com/redis/go-redis/v9 v9.7.0 // indirect
	github.com/stoewer/go-strcase v1.3.0 // indirect
	github.com/twitchtv/twirp v8.1.3+incompatible // indirect
	github.com/wlynxg/anet v0.0.5 // indirect
	golang.org/x/crypto v0.48.0 // indirect
	golang.org/x/exp v0.0.0-20250210185358-939b2ce775ac // indirect
	golang.org/x/net v0.50.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/text v0.34.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20241202173237-19429a94021a // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250212204824-5a70512c5d8b // indirect
	google.golang.org/grpc v1.70.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/gammazero/deque v1.0.0 // indirect
	github.com/go-logr/logr v1.4.2 // indirect
	github.com/klauspost/cpuid/v2 v2.2.6 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/pion/logging v0.2.4 // indirect
	github.com/pion/randutil v0.1.0 // indirect
	github.com/pion/rtp v1.10.5
	github.com/pion/sdp/v3 v3.0.20
	github.com/pion/webrtc/v4 v4.2.24
	github.com/prometheus/client_model v0.6.1 // indirect
	github.com/prometheus/common v0.55.0 // indirect
	github.com/prometheus/procfs v0.15.1 // indirect
	github.com/puzpuzpuz/xsync/v3 v3.5.0 // indirect
	github.com/tetratelabs/wazero v1.11.0 // indirect
	github.com/zeebo/xxh3 v1.0.2 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.27.0 // indirect
	go.uber.org/zap/exp v0.3.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
	google.golang.org/protobuf v1.36.5 // indirect
)

replace weir/pion => ../pion

replace github.com/pion/interceptor => github.com/pion/interceptor v0.1.37

replace github.com/pion/rtcp => github.com/pion/rtcp v1.2.15

replace github.com/pion/rtp => github.com/pion/rtp v1.8.11

replace github.com/pion/logging => github.com/pion/logging v0.2.3

replace github.com/pion/webrtc/v4 => github.com/pion/webrtc/v4 v4.0.11

replace github.com/pion/ice/v4 => github.com/pion/ice/v4 v4.0.7

replace github.com/pion/dtls/v3 => github.com/pion/dtls/v3 v3.0.4

replace github.com/pion/sctp => github.com/pion/sctp v1.8.36

replace github.com/pion/sdp/v3 => github.com/pion/sdp/v3 v3.0.10

replace github.com/pion/srtp/v3 => github.com/pion/srtp/v3 v3.0.4

replace github.com/pion/datachannel => github.com/pion/datachannel v1.5.10

replace github.com/pion/mdns/v2 => github.com/pion/mdns/v2 v2.0.7

replace github.com/pion/randutil => github.com/pion/randutil v0.1.0
