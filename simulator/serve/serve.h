// `weir-sim serve`: an environment for an agent in another process, in binary frames.
#ifndef WEIR_SIMULATOR_SERVE_SERVE_H_
#define WEIR_SIMULATOR_SERVE_SERVE_H_

#include "flows/stack.h"

namespace weir::sim {

// Answers requests from `input_fd` on `output_fd` until a request to quit or the input ends between two frames (true),
// or until either side breaks in the middle of a frame (false). See simulator/README.md for the frames.
bool Serve(int input_fd, int output_fd, const MakeStack& make_stack = nullptr);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SERVE_SERVE_H_
