"""The promises of the project: for each, the command that shows it, and the tests that keep it.

Each test runs a part of what is promised, and fails when that part is broken. A test is named by its file and function,
a GoogleTest by its file, suite and name. It belongs to the distribution that keeps the promise. Whoever removes a
promise on purpose removes its row.
"""

PROMISES = {
    "libwebrtc's GCC is replaced at the receiver by a patch": (
        "weir webrtc check",
        "tests/webrtc_patch/test_check_command.py::test_apply_changes_the_tree_once",
        "tests/webrtc_patch/receive_side_switch_test.cc::Switch.WeirDrivesRemb",
    ),
    "patched Chromium builds": (
        "make chromium-patch",
        "tests/webrtc_patch/test_chromium_patch.py::test_one_git_apply_puts_all_of_it_into_a_checkout",
    ),
    "ONNX Runtime": (
        "weir model",
        "tests/estimator/test_core_module.py::test_a_model_of_other_operators_runs_in_onnx_runtime",
        "tests/trainer/test_policy_graph.py::test_torch_onnx_runtime_and_the_library_agree",
    ),
    "OpenNetLab's gym": (
        "weir train",
        "tests/trainer/test_opennetlab.py::test_an_agents_loop",
        "tests/traces/test_formats.py::test_opennetlab_units_and_sticky_values",
    ),
    "ns-3": (
        "make build",
        "tests/simulator/tcp_flow_test.cc::TcpFlowTest.DelaysAndPacketsAreThoseOfThePath",
        "tests/simulator/test_simulator_command.py::test_options_reach_the_run",
    ),
    "stable-baselines3: PPO, TD3, SAC": (
        "weir train",
        "tests/trainer/test_training.py::test_a_trivial_environment_is_learned",
        "papers/tests/test_off_policy.py::test_a_trivial_environment_is_learned",
    ),
    "pybind11": ("make build", "tests/estimator/test_core_module.py::test_controllers_run_a_call"),
    "docker": (
        "make test-docker",
        "tests/install/test_images.py::test_each_image_is_a_stage_that_follows_from_another",
        "tests/install/test_images.py::test_what_an_image_copies_and_makes_is_in_the_clone",
    ),
    "per-trace curriculum": (
        "weir train",
        "tests/trainer/test_curriculum.py::test_ordered_traces_change_for_all_environments",
        "tests/trainer/test_curriculum.py::test_adaptive_gap_in_training",
    ),
    "multi-objective policy with weights at run time": (
        "weir replay",
        "tests/estimator/c_api_test.cc::CApiTest.AnotherObjectiveInTheCallChangesTheTarget",
        "tests/trainer/test_shipped_model.py::test_the_objective_steers",
    ),
    "QoE metrics": (
        "weir report",
        "tests/qoe_eval/measures/test_viewer.py::test_an_outage_is_one_freeze_that_counts_as_nothing_seen",
        "tests/qoe_eval/measures/test_metrics.py::test_challenge_is_the_weighted_mean_of_its_parts",
        "tests/qoe_eval/measures/test_adding_a_metric.py::test_a_registered_metric_reaches_every_table",
    ),
    "trace-replay reports": (
        "weir replay",
        "tests/qoe_eval/test_cli.py::test_the_page_of_a_replay_has_the_scores_of_each_controller",
        "tests/qoe_eval/test_cli.py::test_replay_writes_its_files_and_report_makes_them_again",
    ),
    "browser testbed": (
        "weir call",
        "tests/calls/call/test_end_to_end.py::test_chromium_under_weir",
        "tests/calls/call/session/test_session.py::test_a_call_from_beginning_to_end",
    ),
    "MOCC: landmarks, Algorithm 1": (
        "weir paper mocc",
        "papers/tests/test_mocc_landmarks.py::test_order_of_six_landmarks_by_hand",
        "papers/tests/test_mocc_landmarks.py::test_the_papers_order_has_all_36_and_stays_near",
    ),
    "MOCC: bootstrapping and fast traversing": (
        "weir paper mocc",
        "papers/tests/test_mocc_landmarks.py::test_schedule_bootstraps_then_traverses_in_rounds",
        "papers/tests/test_mocc_landmarks.py::test_an_update_of_all_environments_has_one_landmark",
    ),
    "MOCC: adaptation with requirement replay": (
        "weir adapt",
        "tests/trainer/test_adaptation.py::test_replay_shares_the_episodes_out",
        "tests/trainer/test_adaptation.py::test_adaptation_learns_the_new_objective",
        "papers/tests/test_mocc.py::test_the_experiment_ends_and_writes_its_figures",
    ),
    "MOCC: its library calls": (
        "make test-cpp",
        "tests/estimator/c_api_test.cc::MoccTest.DecidesFromReports",
        "tests/estimator/policy/mocc_sender_test.cc::MoccShippedModelTest.FillsAnEmptyLink",
    ),
    "MOCC: 100 objectives, number of landmarks, DQN (Fig. 6, 16, 19)": (
        "weir paper mocc",
        "papers/tests/test_mocc.py::test_a_policy_is_measured_under_a_hundred_objectives",
        "papers/tests/test_mocc.py::test_the_experiment_ends_and_writes_its_figures",
        "papers/tests/test_mocc.py::test_networks_are_those_of_table_3",
    ),
    "ReCoCo: reward": ("weir train", "tests/trainer/test_rewards.py::test_recoco_equation_6"),
    "ReCoCo: orders": (
        "weir paper recoco",
        "papers/tests/test_recoco_models.py::test_the_orders_of_the_paper_follow_from_its_own_scores",
        "papers/tests/test_recoco_models.py::test_a_model_of_all_traces_trains_on_them_in_its_order",
        "tests/trainer/test_curriculum.py::test_orders_are_by_the_oracles_reward_and_by_gccs_distance_to_it",
    ),
    "ReCoCo: QoE": ("weir replay", "tests/qoe_eval/measures/test_metrics.py::test_recoco_on_200_ms_steps"),
    "ReCoCo: search": (
        "weir paper recoco",
        "papers/tests/test_recoco_models.py::test_the_search_tries_twelve_configurations_of_every_trace",
        "papers/tests/test_recoco_models.py::test_the_best_configuration_has_the_best_qoe_of_similar_rewards",
    ),
    "ReCoCo: models of one trace, tried on all (Table I, Fig. 7)": (
        "weir paper recoco",
        "papers/tests/test_recoco_models.py::test_training_is_interrupted_and_goes_on",
        "papers/tests/test_recoco.py::test_the_tables_stand_beside_the_papers",
    ),
    "Muses: teacher": (
        "weir paper muses",
        "papers/tests/test_muses_teaching.py::test_the_network_is_the_papers",
        "papers/tests/test_muses_teaching.py::test_a_teacher_is_taught_once",
        "papers/tests/test_muses_networks.py::test_table_ii_spans_its_ranges",
    ),
    "Muses: kinds": (
        "weir paper muses",
        "papers/tests/test_muses_trees.py::test_kinds_are_found_and_the_best_silhouette_is_of_their_number",
    ),
    "Muses: trees": (
        "weir paper muses",
        "papers/tests/test_muses_teaching.py::test_trees_by_kind_decide_as_the_teacher_from_the_first_choice_on",
        "papers/tests/test_muses_trees.py::test_more_leaves_and_the_right_kind_bring_students_nearer",
    ),
    "Muses: choice per flow": (
        "weir paper muses",
        "papers/tests/test_muses_trees.py::test_states_alone_choose_the_kind_that_the_joint_histogram_is_nearest_to",
        "papers/tests/test_muses_trees.py::test_the_graph_and_the_mixture_agree_over_many_choices",
    ),
    "Muses: its scenarios with WebRTC": (
        "weir paper muses",
        "tests/traces/test_catalogue.py::test_cross_traffic_of_muses_goes_up_and_down_in_steps",
        "papers/tests/test_muses.py::test_the_residual_capacity_beside_cross_traffic",
        "papers/tests/test_muses.py::test_goals_and_page_without_a_mixture",
    ),
    "Muses: F1, networks of Table III, sharing (Fig. 1b, 3, 4; Table IV)": (
        "weir paper muses",
        "papers/tests/test_muses_teaching.py::test_a_seed_has_the_values_of_all_claims",
        "papers/tests/test_muses_networks.py::test_wifi_of_table_iii",
        "papers/tests/test_muses_measures.py::test_jain_of_staggered_flows_is_of_the_second_halves_of_stretches",
        "papers/tests/test_muses.py::test_goals_and_page_without_a_mixture",
    ),
    "MVFST-RL: decisions that never block": (
        "make test-cpp",
        "tests/estimator/worker/policy_worker_test.cc::PolicyWorkerTest.NothingWaitsForADecisionThatNeverEnds",
    ),
    "MVFST-RL: delayed actions": (
        "weir paper mvfst",
        "papers/tests/test_mvfst_agent.py::test_the_rate_before_stays_in_force_until_a_late_decision",
        "tests/simulator/test_simulator_command.py::test_a_decision_delay",
    ),
    "MVFST-RL: log reward, normalized; discrete actions on the rate; those in flight in the state": (
        "weir paper mvfst",
        "papers/tests/test_mvfst_agent.py::test_the_reward_by_hand",
        "papers/tests/test_mvfst_agent.py::test_rewards_are_normalized_for_each_emulator",
        "papers/tests/test_mvfst_agent.py::test_a_state_has_the_actions_chosen_so_far",
    ),
    "MVFST-RL: ablations (Fig. 3)": (
        "weir paper mvfst",
        "papers/tests/test_mvfst_agent.py::test_each_ablation_trains_another_agent",
    ),
    "MVFST-RL: LSTM": (
        "weir paper mvfst",
        "papers/tests/test_mvfst_agent.py::test_the_memory_is_what_the_network_remembers",
    ),
    "MVFST-RL: IMPALA with V-trace": (
        "weir paper mvfst",
        "papers/tests/test_mvfst_agent.py::test_it_learns_from_what_another_policy_did",
        "papers/tests/test_vtrace.py::test_vtrace_equals_the_written_out_sums",
    ),
    "MVFST-RL: an agent as a model file": (
        "weir replay",
        "papers/tests/test_mvfst_export.py::test_a_file_decides_as_the_agent_in_its_environment",
        "papers/tests/test_mvfst_export.py::test_a_file_replays_at_the_sender_by_its_window",
    ),
    # Needs the environment of `make distributed`; `make test-distributed` runs it.
    "IMPALA on Ray, also on clusters whose machines leave and rejoin": (
        "weir train",
        "papers/tests/impala/test_two_nodes.py::test_a_training_goes_on_without_a_killed_node_and_takes_it_back",
    ),
    "MVFST-RL: Pantheon": (
        "weir traces list",
        "tests/traces/test_pantheon.py::test_an_emulator_is_as_published",
        "tests/traces/test_catalogue.py::test_files_are_what_the_generator_makes",
        "papers/tests/test_mvfst.py::test_an_emulator_of_each_kind_runs_in_the_simulator",
    ),
    "PolyCC: pool": (
        "weir replay",
        "tests/estimator/pool/pool_controller_test.cc::PoolControllerTest.TellsAllWhatWasReallySent",
        "tests/qoe_eval/runs/test_pools.py::test_pools_run_and_their_records_have_the_active_controllers",
    ),
    "PolyCC: filter": (
        "weir replay",
        "tests/estimator/pool/pool_controller_test.cc::PoolControllerTest.ByTrustGivesTheSeatOfAFailingPilotToACopilot",
        "tests/estimator/pool/trust_test.cc::TrustTest.GoesWithinASecondWhereTheAdviceIsFarFromAllOthers",
    ),
    "PolyCC: fusion": ("weir replay", "tests/estimator/pool/fusion_test.cc::FusionTest.MaxAndMin"),
    "PolyCC: both scenarios": (
        "weir paper polycc",
        "papers/tests/test_polycc.py::test_every_control_has_its_scenario",
        "papers/tests/test_small.py::test_the_small_size_has_a_value_of_every_claim",
    ),
}
