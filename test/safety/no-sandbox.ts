import { wallOf } from '../../src/safety/wall/wall.ts'

/** Why commands cannot be run in a sandbox on this machine; false where they can. */
export const noSandbox = (await wallOf({ platform: process.platform, env: process.env }).none()) ?? false
