package cc

import (
	"strings"

	"github.com/pion/interceptor"

	weir "weir/pion"
)

func kindOf(info *interceptor.StreamInfo) weir.Kind {
	if strings.HasPrefix(strings.ToLower(info.MimeType), "audio/") {
		return weir.Audio
	}
	return weir.Video
}
