import type { IPty, IPtyForkOptions } from '@lydell/node-pty'
import type { Terminal as Emulator } from '@xterm/headless'
import { messageOf } from '../../base/error-message.ts'

export type { IPty, Emulator }

export type Libraries = {
  spawn(file: string, args: string[], options: IPtyForkOptions): IPty
  emulator(size: { cols: number; rows: number }): Emulator
}

/** Loads node-pty and the emulator with the first embedded terminal, so that other runs do not load them. */
export async function loadLibraries(): Promise<Libraries> {
  const [pty, { default: headless }] = await Promise.all([loadPty(), import('@xterm/headless')])
  return {
    spawn: (file, args, options) => pty.spawn(file, args, options),
    emulator: (size) => new headless.Terminal({ ...size, allowProposedApi: true, logLevel: 'off' }),
  }
}

async function loadPty() {
  try {
    return (await import('@lydell/node-pty')).default
  } catch (error) {
    throw new Error(
      `embedded terminals do not work on this machine (${process.platform} ${process.arch}): ${messageOf(error).split('\n')[0]}. ` +
        'Install tmux, or install termaite again without --no-optional.',
      { cause: error },
    )
  }
}
