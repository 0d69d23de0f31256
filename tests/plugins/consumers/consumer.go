// A sender with the shipped model: the rate after 400 packets.
package main

import (
	"fmt"
	"log"

	weir "weir.example/pion"
)

func main() {
	model, err := weir.LoadShippedModel()
	if err != nil {
		log.Fatal(err)
	}
	sender, err := weir.NewSendSide(weir.Config{Model: model}, 0)
	if err != nil {
		log.Fatal(err)
	}
	feedback := make([]weir.PacketFeedback, 10)
	for i := range 400 {
		nowUs := 5000 * int64(i)
		if err := sender.OnSentPacket(nowUs, uint16(i), 1200, weir.Video, 0); err != nil {
			log.Fatal(err)
		}
		feedback[i%10] = weir.PacketFeedback{ReceiveTimeUs: nowUs + 20000, SequenceNumber: uint16(i)}
		if i%10 < 9 {
			continue
		}
		if err := sender.OnTransportFeedback(feedback, nowUs+40000); err != nil {
			log.Fatal(err)
		}
	}
	rates, err := sender.Rates()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rates.TargetRateBps, rates.Reason)
}
