// A controller in a program: JSON lines, one question and one answer at a time. docs/write_a_custom_controller.md
// describes the lines.
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "programs/custom_controllers.h"
#include "programs/json.h"
#include "programs/line_process.h"

namespace weir {
namespace {

constexpr size_t kShownOfAnAnswer = 120;

// Formats without a JSON library: a question can have thousands of packets, and a JSON value for each takes far longer.
// `text` is the JSON before the number, including its name.
template <class Number>
void Append(std::string& line, std::string_view text, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  line.append(text).append(digits, end);
}

void AppendObjective(std::string& line, const weir_controller_objective& objective) {
  Append(line, R"("objective":{"throughput":)", static_cast<float>(objective.throughput));
  Append(line, R"(,"latency":)", static_cast<float>(objective.latency));
  Append(line, R"(,"loss":)", static_cast<float>(objective.loss));
  line += '}';
}

void AppendPacket(std::string& line, const weir_controller_packet& packet) {
  Append(line, R"({"arrival_time_us":)", packet.arrival_time_us);
  Append(line, R"(,"ssrc":)", packet.ssrc);
  Append(line, R"(,"sequence_number":)", packet.sequence_number);
  Append(line, R"(,"payload_type":)", packet.payload_type);
  line.append(R"(,"kind":")").append(kPacketKinds[packet.kind & 3]).append("\"");
  if (packet.abs_send_time >= 0) Append(line, R"(,"abs_send_time":)", packet.abs_send_time);
  Append(line, R"(,"header_bytes":)", packet.header_bytes);
  Append(line, R"(,"payload_bytes":)", packet.payload_bytes);
  Append(line, R"(,"padding_bytes":)", packet.padding_bytes);
  Append(line, R"(,"queueing_delay_us":)", packet.queueing_delay_us);
  Append(line, R"(,"lost_change":)", packet.lost_change);
  line += '}';
}

// Returns the number `name` of the answer, or `otherwise` if it is missing.
Result<double> Number(std::string_view answer, const char* name, std::optional<double> otherwise = {}) {
  const auto shown = [answer] { return Printable(answer.substr(0, kShownOfAnAnswer)); };
  try {
    const nlohmann::json json = ParseJson(answer);
    JsonObject object(json, "");
    // `cat` as a controller, for example, echoes the question.
    if (object.Find("type")) return Error{"it answers with a question: " + shown()};
    return object.Number(name, {}, otherwise);
  } catch (const ProgramError&) {
    return Error{"its answer is no JSON object with a number \"" + std::string(name) + "\": " + shown()};
  }
}

class CustomProgram final : public CustomCode {
 public:
  // Receives the process at the end if it has not failed, for the next run.
  using TakeBack = std::function<void(std::unique_ptr<LineProcess>)>;

  CustomProgram(std::unique_ptr<LineProcess> process, TimeDelta interval, TimeDelta decision_limit, TakeBack take_back)
      : process_(std::move(process)),
        interval_(interval),
        decision_limit_(decision_limit),
        take_back_(std::move(take_back)) {}
  ~CustomProgram() override {
    if (well_) take_back_(std::move(process_));
  }
  CustomProgram(const CustomProgram&) = delete;
  CustomProgram& operator=(const CustomProgram&) = delete;

  Result<DataRate> Decide(const weir_controller_interval& interval) override {
    if (!well_) return Error{"it has failed before"};
    Write(interval);
    const Result<DataRate> target = Ask();
    well_ = target.ok();
    return target;
  }
  TimeDelta interval() const override { return interval_; }

 private:
  void Write(const weir_controller_interval& interval);
  Result<DataRate> Ask();

  std::unique_ptr<LineProcess> process_;
  const TimeDelta interval_;
  const TimeDelta decision_limit_;
  const TakeBack take_back_;
  bool well_ = true;
  std::string question_;
};

void CustomProgram::Write(const weir_controller_interval& interval) {
  std::string& line = question_;
  line.clear();
  Append(line, R"({"type":"decide","time_us":)", interval.now_us);
  Append(line, R"(,"target_bps":)", interval.target_bps);
  if (interval.round_trip_time_us > 0) Append(line, R"(,"round_trip_time_us":)", interval.round_trip_time_us);
  line += ',';
  AppendObjective(line, interval.objective);
  line += R"(,"packets":[)";
  for (size_t i = 0; i < interval.packet_count; ++i) {
    if (i > 0) line += ',';
    AppendPacket(line, interval.packets[i]);
  }
  line += "]}\n";
}

Result<DataRate> CustomProgram::Ask() {
  const auto answer = process_->Ask(question_, decision_limit_);
  if (!answer) return Error{answer.error()};
  const auto target_bps = Number(answer.value(), "target_bps");
  if (!target_bps) return Error{target_bps.error()};
  return CheckedTarget(target_bps.value());
}

std::string StartLine(const weir_controller_start& start) {
  std::string line;
  Append(line, R"({"type":"start","version":)", WEIR_CONTROLLER_VERSION);
  Append(line, R"(,"seed":)", start.seed);
  Append(line, R"(,"min_bps":)", start.min_bps);
  Append(line, R"(,"start_bps":)", start.start_bps);
  Append(line, R"(,"max_bps":)", start.max_bps);
  line += ',';
  AppendObjective(line, start.objective);
  return line + "}\n";
}

}  // namespace

Result<std::unique_ptr<CustomCode>> StartProgram(std::unique_ptr<LineProcess> process,
                                                 const weir_controller_start& start, TimeDelta decision_limit,
                                                 std::function<void(std::unique_ptr<LineProcess>)> take_back) {
  const auto answer = process->Ask(StartLine(start), decision_limit * kStartLimitFactor);
  if (!answer) return Error{answer.error()};
  const auto version = Number(answer.value(), "version");
  if (!version) return Error{version.error()};
  if (version.value() != WEIR_CONTROLLER_VERSION) {
    return Error{"its version of the line protocol is not " + std::to_string(WEIR_CONTROLLER_VERSION)};
  }
  const auto interval_us =
      Number(answer.value(), "interval_us", static_cast<double>(CustomCode::kDefaultInterval.us()));
  if (!interval_us) return Error{interval_us.error()};
  const auto interval = CheckedInterval(interval_us.value());
  if (!interval) return Error{interval.error()};
  return std::unique_ptr<CustomCode>(
      std::make_unique<CustomProgram>(std::move(process), interval.value(), decision_limit, std::move(take_back)));
}

}  // namespace weir
