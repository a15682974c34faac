/** Peers over unix sockets, as one module to load lazily: most runs need none of it. */
export { connectPeer } from './peer-client.ts'
export { findSockets, ownSocketName } from './peer-sockets.ts'
export { servePeer } from './peer-server.ts'
