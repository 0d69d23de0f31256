module weir/livekit

go 1.24.0

require (
	github.com/livekit/livekit-server v1.8.4
	github.com/livekit/protocol v1.34.0
	github.com/pion/interceptor v0.1.49
	github.com/pion/rtcp v1.2.19
	github.com/prometheus/client_golang v1.20.5
	weir/pion v0.0.0
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
	github.com/pion/rtp v1.10.5 // indirect
	github.com/prometheus/client_model v0.6.1 // indirect
	github.com/prometheus/common v0.55.0 // indirect
	github.com/prometheus/procfs v0.15.1 // indirect
	github.com/puzpuzpuz/xsync/v3 v3.5.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
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
