// A sender with the shipped model: the rate after 400 packets.
import { load } from 'weir-bwe';

const weir = await load();
const sender = weir.sendSide();
let feedback = [];
for (let i = 0; i < 400; ++i) {
  const nowUs = 5000 * i;
  sender.onSentPacket({ sendTimeUs: nowUs, sequenceNumber: i, sizeBytes: 1200 });
  feedback.push({ sequenceNumber: i, receiveTimeUs: nowUs + 20000 });
  if (i % 10 < 9) continue;
  sender.onTransportFeedback(feedback, nowUs + 40000);
  feedback = [];
}
const { targetRateBps, reason } = sender.rates;
console.log(targetRateBps, reason);
sender.close();
