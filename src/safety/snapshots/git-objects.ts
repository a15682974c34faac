import type { Repository } from './snapshot-repository.ts'
import { open } from 'node:fs/promises'
import { killChild } from '../../base/process/kill-child.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import { startGit } from '../../base/git/run-git.ts'

/** Writes git objects to new files with one git process, without holding a whole object in memory. */
export async function writeObjects(
  repository: Repository,
  wanted: readonly { id: string; place: string | Buffer }[],
): Promise<void> {
  if (wanted.length === 0) return
  const { dir, root } = repository
  const env = withoutProject(repository.env, root)
  const lender = repository.lender()
  const places = { cwd: dir, dir, env, alternates: lender === undefined ? [] : [lender] }
  const child = startGit(['cat-file', '--batch', '--buffer'], places)
  child.on('error', () => {})
  child.stdin.on('error', () => {}).end(wanted.map(({ id }) => `${id}\n`).join(''))
  const source = new ByteSource(child.stdout)
  try {
    for (const { id, place } of wanted) {
      const [, kind, size] = (await source.line()).split(' ')
      if (kind !== 'blob') throw new Error(`the snapshots are damaged: ${id} is not in them`)
      await using file = await open(place, 'wx')
      for await (const chunk of source.take(Number(size))) await file.writeFile(chunk)
      await source.line()
    }
  } finally {
    killChild(child, 'SIGKILL')
  }
}

/** Reads a stream by lines and by numbers of bytes. */
class ByteSource {
  #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  async line(): Promise<string> {
    let line = ''
    for (;;) {
      const end = this.#rest.indexOf(10)
      line += this.#rest.toString('latin1', 0, end < 0 ? undefined : end)
      this.#rest = end < 0 ? Buffer.alloc(0) : this.#rest.subarray(end + 1)
      if (end >= 0 || !(await this.#more())) return line
    }
  }

  async *take(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#more())) throw new Error('git stopped in the middle of a file')
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  async #more(): Promise<boolean> {
    const next = await this.#chunks.next()
    if (!next.done) this.#rest = next.value
    return !next.done
  }
}
