#include "session_description.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace weir::janus {
namespace {

constexpr std::string_view kAbsSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time";
constexpr std::string_view kTransportCc = "transport-wide-cc-extensions";
constexpr size_t kMostSessionIdDigits = 20;
// Up to this rate Chromium follows REMB at once (plugins/browser/README.md).
constexpr std::string_view kStartWithTransportCc = "x-google-start-bitrate=1000;x-google-max-bitrate=20000";
constexpr std::string_view kStartWithRembAlone = "x-google-start-bitrate=1500;x-google-max-bitrate=20000";

// The lines from a line m= to the next; the first section is the session's.
using Section = std::vector<std::string>;

std::vector<Section> Split(std::string_view sdp) {
  std::vector<Section> sections(1);
  while (!sdp.empty()) {
    const size_t end = std::min(sdp.find('\n'), sdp.size());
    std::string_view line = sdp.substr(0, end);
    sdp.remove_prefix(std::min(end + 1, sdp.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.starts_with("m=")) sections.emplace_back();
    sections.back().emplace_back(line);
  }
  return sections;
}

template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

// The number after a prefix, such as 96 in "a=rtpmap:96 VP8/90000".
std::optional<uint8_t> NumberAfter(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return std::nullopt;
  return Parse<uint8_t>(line.substr(prefix.size()));
}

bool Has(const Section& section, std::string_view part) {
  return std::ranges::any_of(section, [&](const std::string& line) {
    return line.starts_with("a=extmap:") && line.find(part) != std::string::npos;
  });
}

bool Receives(const Section& section) {
  const auto has = [&](std::string_view line) { return std::ranges::find(section, line) != section.end(); };
  const std::string& media = section.front();
  const bool is_media = media.starts_with("m=audio ") || media.starts_with("m=video ");
  const bool is_rejected = media.starts_with("m=audio 0 ") || media.starts_with("m=video 0 ");
  return is_media && !is_rejected && !has("a=sendonly") && !has("a=inactive");
}

bool IsVideoCodec(std::string_view rtpmap) {
  constexpr std::array kCodecs = {" VP8/", " VP9/", " H264/", " AV1/", " H265/"};
  return std::ranges::any_of(kCodecs, [&](const char* codec) { return rtpmap.find(codec) != std::string_view::npos; });
}

void SetRates(Section* section, uint8_t payload_type, std::string_view rates) {
  const std::string parameters = "a=fmtp:" + std::to_string(payload_type) + ' ';
  const auto line = std::ranges::find_if(*section, [&](const std::string& l) { return l.starts_with(parameters); });
  if (line != section->end())
    line->append(";").append(rates);
  else
    section->push_back(parameters + std::string(rates));
}

void Complete(Section* section, const std::string& abs_send_time, bool in_charge, Negotiated* negotiated) {
  if (!abs_send_time.empty() && !Has(*section, kAbsSendTime)) section->push_back(abs_send_time);
  const bool is_video = section->front().starts_with("m=video");
  const bool transport_cc = Has(*section, kTransportCc);
  std::vector<uint8_t> video_codecs;
  for (const std::string& line : *section) {
    if (const auto id = NumberAfter(line, "a=extmap:"); id && line.ends_with(kAbsSendTime))
      negotiated->abs_send_time_id = *id;
    const auto type = NumberAfter(line, "a=rtpmap:");
    if (!type || *type >= negotiated->payload_types.size()) continue;
    const size_t slash = line.find('/');
    const auto rate = slash == std::string::npos ? 0 : Parse<uint32_t>(std::string_view(line).substr(slash + 1));
    const uint32_t clock_rate_hz = rate && *rate >= 1000 && *rate <= 1'000'000 ? *rate : 0;
    negotiated->payload_types[*type] = {transport_cc, is_video, clock_rate_hz};
    if (is_video && IsVideoCodec(line)) video_codecs.push_back(*type);
  }
  negotiated->transport_cc |= transport_cc;
  if (!in_charge) return;
  for (const uint8_t type : video_codecs)
    SetRates(section, type, transport_cc ? kStartWithTransportCc : kStartWithRembAlone);
}

}  // namespace

Offer ReadOffer(std::string_view sdp) {
  const std::vector<Section> sections = Split(sdp);
  Offer offer;
  for (const std::string& line : sections.front()) {
    if (!line.starts_with("o=")) continue;
    const size_t begin = std::min(line.find(' '), line.size() - 1) + 1;
    const size_t digits = std::min(line.find_first_not_of("0123456789", begin), line.size()) - begin;
    if (digits <= kMostSessionIdDigits) offer.session_id = line.substr(begin, digits);
  }
  for (size_t i = 1; i < sections.size(); ++i) {
    const auto line = std::ranges::find_if(sections[i], [](const std::string& l) {
      const auto id = NumberAfter(l, "a=extmap:");
      return id && *id >= 1 && l == "a=extmap:" + std::to_string(*id) + ' ' + std::string(kAbsSendTime);
    });
    offer.abs_send_time.push_back(line == sections[i].end() ? "" : *line);
  }
  return offer;
}

Answer CompleteAnswer(std::string_view sdp, const Offer& offer, bool in_charge) {
  Answer answer;
  std::vector<Section> sections = Split(sdp);
  for (size_t i = 1; i < sections.size(); ++i) {
    if (!Receives(sections[i])) continue;
    const std::string abs_send_time = i <= offer.abs_send_time.size() ? offer.abs_send_time[i - 1] : "";
    Complete(&sections[i], abs_send_time, in_charge, &answer.negotiated);
    answer.receives_video |= sections[i].front().starts_with("m=video");
  }
  if (!answer.receives_video) {
    answer.sdp = sdp;
    return answer;
  }
  // Without transport-cc, REMB limits video alone.
  if (!answer.negotiated.transport_cc)
    for (PayloadType& type : answer.negotiated.payload_types) type.estimated = type.is_video;
  for (const Section& section : sections)
    for (const std::string& line : section) answer.sdp.append(line).append("\r\n");
  return answer;
}

}  // namespace weir::janus
