package weir_test

import (
	"fmt"

	weir "weir/pion"
)

// Times of a packet, of its feedback, and the fields of its header.
const (
	nowUs, arrivalUs = 20_000, 10_000
	number           = 1
	ssrc, senderSSRC = 7, 8
	absSendTime      = 0x1234
)

func ExampleNewSendSide() {
	send := func() error {
		model, err := weir.LoadShippedModel()
		if err != nil {
			return err
		}
		sender, err := weir.NewSendSide(weir.Config{Model: model}, 0)
		if err != nil {
			return err
		}
		defer sender.Close()
		// For each packet, as it leaves:
		if err := sender.OnSentPacket(nowUs, number, 1200, weir.Video, 0); err != nil {
			return err
		}
		// For each transport-wide feedback message:
		feedback := []weir.PacketFeedback{{ReceiveTimeUs: arrivalUs, SequenceNumber: number}}
		if err := sender.OnTransportFeedback(feedback, nowUs); err != nil {
			return err
		}
		rates, err := sender.Rates()
		fmt.Println(rates.TargetRateBps, rates.Reason)
		return err
	}
	fmt.Println(send())
	// Output:
	// 300000 start
	// <nil>
}

func ExampleNewEstimator() {
	receive := func(model *weir.Model) error {
		receiver, err := weir.NewEstimator(weir.Config{Model: model})
		if err != nil {
			return err
		}
		defer receiver.Close()
		// For each packet, as it arrives:
		err = receiver.OnPacket(&weir.Packet{
			ArrivalTimeUs: nowUs, SSRC: ssrc, SequenceNumber: number, HeaderBytes: 12, PayloadBytes: 1188,
			HasAbsSendTime: true, AbsSendTime: absSendTime,
		})
		if err != nil {
			return err
		}
		// After each packet, and when the time has come that NextTimeoutUs gives:
		estimate, due, err := receiver.OnTimeout(nowUs)
		if err == nil && due {
			packet, err := receiver.REMB(senderSSRC) // RTCP bytes
			fmt.Println(estimate.TargetRateBps, len(packet), err)
		}
		return err
	}
	model, err := weir.LoadShippedModel()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(receive(model))
	// Output:
	// 300000 24 <nil>
	// <nil>
}
