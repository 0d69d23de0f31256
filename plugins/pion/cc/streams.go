package cc

import (
	"strings"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"

	weir "weir/pion"
)

func kindOf(info *interceptor.StreamInfo) weir.Kind {
	if strings.HasPrefix(strings.ToLower(info.MimeType), "audio/") {
		return weir.Audio
	}
	return weir.Video
}

// extensionOf returns the identifier of the header extension with the transport-wide sequence number; 0: there is none.
func extensionOf(info *interceptor.StreamInfo) uint8 {
	var id uint8
	for _, extension := range info.RTPHeaderExtensions {
		if extension.URI == transportCCURI && extension.ID > 0 && extension.ID < 256 {
			id = uint8(extension.ID)
		}
	}
	return id
}

// numberIn returns the bytes of a packet's number; nil: it has none.
func numberIn(header *rtp.Header, id uint8) []byte {
	if id == 0 {
		return nil
	}
	return header.GetExtension(id)
}
