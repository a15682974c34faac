/** Peers over unix sockets: one door for whoever needs them, so that nobody else loads them. */
export { connectPeer } from './client.ts'
export { findSockets, ownSocketName } from './place.ts'
export { servePeer } from './server.ts'
