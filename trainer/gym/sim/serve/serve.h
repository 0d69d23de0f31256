// `weir-sim serve`: an environment for an agent outside this process, in binary frames.
#ifndef WEIR_TRAINER_GYM_SIM_SERVE_SERVE_H_
#define WEIR_TRAINER_GYM_SIM_SERVE_SERVE_H_

namespace weir::sim {

// Answers requests from `input_fd` on `output_fd` until it is told to quit or the input ends between two frames (true),
// or until either side breaks in the middle of a frame (false). See trainer/gym/README.md for the frames.
bool Serve(int input_fd, int output_fd);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_SERVE_SERVE_H_
