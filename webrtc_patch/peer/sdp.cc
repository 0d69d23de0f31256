#include "sdp.h"

#include <charconv>
#include <optional>
#include <set>
#include <vector>

namespace weir::peer {
namespace {

constexpr std::string_view kToolLine = "a=tool:weir-peer";

// Without their ends, which may be CR LF or LF; empty lines are left out.
std::vector<std::string_view> Lines(std::string_view sdp) {
  std::vector<std::string_view> lines;
  while (!sdp.empty()) {
    const size_t end = std::min(sdp.find('\n'), sdp.size());
    std::string_view line = sdp.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
    sdp.remove_prefix(std::min(end + 1, sdp.size()));
  }
  return lines;
}

void Append(std::string& sdp, std::string_view line) { sdp.append(line).append("\r\n"); }

struct RtpMap {
  int payload_type;
  std::string_view codec;
};

// Parses "a=NAME:96 ...": returns the payload type and sets `rest` to the text after it.
std::optional<int> PayloadType(std::string_view line, std::string_view name, std::string_view& rest) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  int value = 0;
  const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (fault != std::errc() || value < 0 || value > 127) return std::nullopt;
  rest = line.substr(static_cast<size_t>(end - line.data()));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return value;
}

std::optional<RtpMap> ParseRtpMap(std::string_view line) {
  std::string_view rest;
  const auto payload_type = PayloadType(line, "a=rtpmap:", rest);
  if (!payload_type) return std::nullopt;
  return RtpMap{*payload_type, rest.substr(0, rest.find('/'))};
}

// RTX, RED and FEC are no codecs of pictures.
bool IsVideoCodec(std::string_view codec) {
  return codec == "VP8" || codec == "VP9" || codec == "H264" || codec == "AV1" || codec == "H265";
}

// Calls function(line, is_video) for each line.
template <class Function>
void ForEachLine(std::string_view sdp, Function function) {
  bool is_video = false;
  for (const std::string_view line : Lines(sdp)) {
    if (line.starts_with("m=")) is_video = line.starts_with("m=video");
    function(line, is_video);
  }
}

}  // namespace

std::string WithoutTransportCc(std::string_view sdp) {
  std::string result;
  for (const std::string_view line : Lines(sdp)) {
    const bool is_extension = line.starts_with("a=extmap:") && line.find("transport-wide-cc") != std::string_view::npos;
    const bool is_feedback = line.starts_with("a=rtcp-fb:") && line.ends_with(" transport-cc");
    if (!is_extension && !is_feedback) Append(result, line);
  }
  return result;
}

std::string AsDtlsServer(std::string_view answer) {
  std::string result;
  for (const std::string_view line : Lines(answer)) Append(result, line == "a=setup:active" ? "a=setup:passive" : line);
  return result;
}

std::string WithStartBitrate(std::string_view sdp, int64_t kbps) {
  const std::string bitrates =
      "x-google-start-bitrate=" + std::to_string(kbps) + ";x-google-max-bitrate=" + std::to_string(kMaxBitrateKbps);
  std::set<int> with_parameters;
  std::set<int> video_codecs;
  ForEachLine(sdp, [&](std::string_view line, bool is_video) {
    std::string_view rest;
    if (const auto payload_type = PayloadType(line, "a=fmtp:", rest)) with_parameters.insert(*payload_type);
    const auto map = ParseRtpMap(line);
    if (map && is_video && IsVideoCodec(map->codec)) video_codecs.insert(map->payload_type);
  });
  std::string result;
  ForEachLine(sdp, [&](std::string_view line, bool is_video) {
    std::string_view rest;
    const auto parameters = PayloadType(line, "a=fmtp:", rest);
    if (parameters && video_codecs.contains(*parameters)) {
      Append(result, std::string(line) + ";" + bitrates);
      return;
    }
    Append(result, line);
    const auto map = ParseRtpMap(line);
    if (map && is_video && video_codecs.contains(map->payload_type) && !with_parameters.contains(map->payload_type))
      Append(result, "a=fmtp:" + std::to_string(map->payload_type) + " " + bitrates);
  });
  return result;
}

std::string WithTool(std::string_view sdp) {
  std::string result;
  bool added = false;
  for (const std::string_view line : Lines(sdp)) {
    if (line.starts_with("m=") && !added) {
      Append(result, kToolLine);
      added = true;
    }
    Append(result, line);
  }
  return result;
}

bool HasTool(std::string_view sdp) {
  for (const std::string_view line : Lines(sdp)) {
    if (line.starts_with("m=")) return false;
    if (line == kToolLine) return true;
  }
  return false;
}

std::map<int, PacketKind> PacketKinds(std::string_view sdp) {
  std::map<int, PacketKind> kinds;
  ForEachLine(sdp, [&](std::string_view line, bool is_video) {
    const auto map = ParseRtpMap(line);
    if (!map) return;
    kinds[map->payload_type] = map->codec == "rtx" ? PacketKind::kRetransmission
                               : is_video          ? PacketKind::kVideo
                                                   : PacketKind::kAudio;
  });
  return kinds;
}

}  // namespace weir::peer
