import { peerContract } from '../contract/peer.ts'

peerContract('the turns of this process', async (turns) => turns)
