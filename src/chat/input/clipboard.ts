import type { Env } from '../../base/env.ts'
import { spawn } from 'node:child_process'
import { killChild } from '../../base/process/kill-child.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Clock } from '../../base/time/clock.ts'
import { withoutModelKeys } from '../../core/profile/key-variables.ts'

/** The content of the clipboard: the bytes of a picture, a text, or a sentence that says why nothing could be read. */
export type Pasted = { picture: Buffer } | { text: string } | { why: string }

type ClipboardParts = { env: Env; clock: Clock; platform?: string }

/** How long a program may take to hand the clipboard over, and how much of it is taken. */
const patienceMs = 3000
const mostBytes = 32 * 1024 * 1024

const otherwise = 'Paste or drag the path of a picture instead, or type @ and its path.'

/** Reads the clipboard of this machine: a picture if there is one, else its text. */
export async function readClipboard({ env, clock, platform = process.platform }: ClipboardParts): Promise<Pasted> {
  const way = wayTo(env, platform)
  if (way === undefined)
    return {
      why: `There is no clipboard here, because this machine has no display (over SSH, for example). ${otherwise}`,
    }
  if (!('read' in way)) return { why: `The clipboard cannot be read: ${way.missing} is not installed. ${otherwise}` }
  const said: string[] = []
  const run: Run = async (argv) => {
    const { out, why } = await output(argv, env, clock)
    if (why !== undefined) said.push(why)
    return out
  }
  const found = await way.read(run)
  return found ?? { why: said[0] === undefined ? 'The clipboard is empty.' : `${said[0]} ${otherwise}` }
}

type Argv = readonly [string, ...string[]]
type Run = (argv: Argv) => Promise<Buffer>
type Way = { read(run: Run): Promise<Pasted | undefined> } | { missing: string }

const pictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const texts = ['text/uri-list', 'text/plain;charset=utf-8', 'UTF8_STRING', 'text/plain', 'STRING']

/** How to read the clipboard on this machine; undefined if it has no clipboard. */
function wayTo(env: Env, platform: string): Way | undefined {
  const has = (name: string) => isInstalled(name, env.PATH ?? '')
  if (env.WSL_DISTRO_NAME || env.WSL_INTEROP) {
    if (has('powershell.exe')) return { read: readWindows }
    if (!env.WAYLAND_DISPLAY && !env.DISPLAY) return { missing: 'powershell.exe' }
  }
  if (platform === 'darwin') return { read: (run) => readMac(run, has('pngpaste')) }
  if (env.WAYLAND_DISPLAY && has('wl-paste'))
    return {
      read: (run) =>
        readTyped(run, ['wl-paste', '--list-types'], (type) => ['wl-paste', '--no-newline', '--type', type]),
    }
  if (env.DISPLAY && has('xclip')) {
    const xclip = (target: string): Argv => ['xclip', '-selection', 'clipboard', '-o', '-t', target]
    return { read: (run) => readTyped(run, xclip('TARGETS'), xclip) }
  }
  if (env.WAYLAND_DISPLAY) return { missing: 'wl-paste (of wl-clipboard)' }
  return env.DISPLAY ? { missing: 'xclip' } : undefined
}

/** Reads the best of the types that the clipboard offers. */
async function readTyped(run: Run, list: Argv, read: (type: string) => Argv): Promise<Pasted | undefined> {
  const offered = (await run(list)).toString().split(/\s+/)
  const picture = pictures.find((type) => offered.includes(type))
  if (picture !== undefined) {
    const body = await run(read(picture))
    return body.length > 0 ? { picture: body } : undefined
  }
  const text = texts.find((type) => offered.includes(type))
  return text === undefined ? undefined : asText((await run(read(text))).toString())
}

async function readMac(run: Run, hasPngpaste: boolean): Promise<Pasted | undefined> {
  if (hasPngpaste) {
    const body = await run(['pngpaste', '-'])
    if (body.length > 0) return { picture: body }
  } else {
    // «data PNGf89504E47…»
    const [, hex] =
      /«data PNGf([0-9A-F]+)»/i.exec((await run(['osascript', '-e', 'the clipboard as «class PNGf»'])).toString()) ?? []
    if (hex !== undefined) return { picture: Buffer.from(hex, 'hex') }
  }
  return asText((await run(['pbpaste'])).toString())
}

const windowsPicture =
  'Add-Type -AssemblyName System.Windows.Forms, System.Drawing; $image = [System.Windows.Forms.Clipboard]::GetImage(); ' +
  'if ($image) { $stream = New-Object System.IO.MemoryStream; ' +
  '$image.Save($stream, [System.Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($stream.ToArray()) }'

async function readWindows(run: Run): Promise<Pasted | undefined> {
  const powershell = (script: string): Argv => [
    'powershell.exe',
    '-NoProfile',
    '-NonInteractive',
    '-STA',
    '-Command',
    script,
  ]
  const body = (await run(powershell(windowsPicture))).toString().replaceAll(/\s/g, '')
  if (body !== '') return { picture: Buffer.from(body, 'base64') }
  return asText((await run(powershell('Get-Clipboard -Raw'))).toString().replaceAll('\r\n', '\n'))
}

const asText = (text: string): Pasted | undefined => (text === '' ? undefined : { text: text.replace(/\n$/, '') })

/** The output of a program, which is killed if it takes too long or prints too much. */
async function output(argv: Argv, env: Env, clock: Clock): Promise<{ out: Buffer; why?: string }> {
  const [command, ...args] = argv
  const child = spawn(command, args, {
    env: withoutModelKeys(withoutProject(env)),
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const over = new AbortController()
  const chunks: Buffer[] = []
  let [bytes, why] = [0, undefined as string | undefined]
  const end = (reason: string) => {
    why ??= reason
    try {
      // The program may have started others, which keep its output open.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      killChild(child, 'SIGKILL')
    }
    child.stdout.destroy()
  }
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > mostBytes) end('The picture on the clipboard is too large.')
    else chunks.push(chunk)
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      why ??= `${command} could not be started: ${error.message}.`
      resolve()
    })
    child.stdout.once('close', () => resolve())
  })
  const late = clock.sleep(patienceMs, over.signal).then(() => {
    if (!over.signal.aborted) end(`${command} did not answer within ${patienceMs / 1000} s.`)
  })
  await ended
  over.abort()
  await late
  return why === undefined ? { out: Buffer.concat(chunks) } : { out: Buffer.alloc(0), why }
}

/** Whether a program is on the path. */
export function isInstalled(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    if (folder === '') return false
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
