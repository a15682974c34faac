/** Peers over unix sockets: one door for whoever needs them, so that nobody else loads them. */
export { connectPeer } from './peer-client.ts'
export { findSockets, ownSocketName } from './peer-sockets.ts'
export { servePeer } from './peer-server.ts'
