import { sandbox } from '../../src/safety/command-sandbox.ts'

/** Why commands cannot be run in a sandbox on this machine; false where they can. */
export const noSandbox = (await sandbox({ platform: process.platform, env: process.env }).none()) ?? false
