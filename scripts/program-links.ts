import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Fills a new folder with links to all programs of the PATH but some, so that it can be a PATH without them. */
export function linkPrograms(folder: string, isLeftOut: (name: string) => boolean): void {
  mkdirSync(folder)
  // Tests that run a program as another user need the programs too.
  chmodSync(folder, 0o755)
  for (const place of process.env.PATH!.split(delimiter).filter((path) => existsSync(path) && !path.endsWith('.bin')))
    for (const name of readdirSync(place))
      // The first program of a name counts, as on any PATH; a link that leads nowhere is no program.
      if (!isLeftOut(name) && !existsSync(join(folder, name)) && existsSync(join(place, name)))
        symlinkSync(join(place, name), join(folder, name))
}
