import type { TestContext } from 'node:test'
import type { WallUser } from './behind-wall.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sized } from '../full.ts'
import { plainGitSettings } from '../../src/safety/wall/wall-git-settings.ts'
import { give, groundsOf, runBehindWall, wallUsers } from './behind-wall.ts'

/** Files below a home that hold a key, a token, a password or a history. */
const keyFiles = [
  ...[
    '.ssh/id_ed25519',
    '.ssh/config',
    '.ssh/work/id_rsa',
    '.gnupg/private-keys-v1.d/a.key',
    '.netrc',
    '_netrc',
    '.authinfo',
  ],
  ...[
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.bunfig.toml',
    '.config/pnpm/rc',
    '.pypirc',
    '.config/pip/pip.conf',
    '.pip/pip.conf',
  ],
  ...[
    '.config/uv/uv.toml',
    '.local/share/uv/credentials/a',
    '.config/pypoetry/auth.toml',
    '.condarc',
    'miniconda3/.condarc',
  ],
  ...['.cargo/credentials', '.cargo/credentials.toml', '.cargo/config.toml', '.gem/credentials', '.bundle/config'],
  ...[
    '.m2/settings.xml',
    '.m2/settings-security.xml',
    '.gradle/gradle.properties',
    '.gradle/init.d/a.gradle',
    '.ivy2/.credentials',
  ],
  ...[
    '.sbt/.credentials',
    '.nuget/NuGet/NuGet.Config',
    '.config/NuGet/NuGet.Config',
    '.dotnet/corefx/cryptography/a.pfx',
  ],
  ...['.composer/auth.json', '.config/composer/auth.json', '.git-credentials', '.gitconfig', '.config/git/config'],
  ...[
    '.config/git/credentials',
    '.config/gh/hosts.yml',
    '.config/hub',
    '.config/glab-cli/config.yml',
    '.config/tea/config.yml',
  ],
  ...[
    '.aws/credentials',
    '.aws/sso/cache/a.json',
    '.azure/msal_token_cache.json',
    '.config/gcloud/credentials.db',
    '.boto',
  ],
  ...[
    '.s3cfg',
    '.config/rclone/rclone.conf',
    '.oci/config',
    '.config/doctl/config.yaml',
    '.config/hcloud/cli.toml',
    '.fly/config.yml',
  ],
  ...[
    '.config/netlify/config.json',
    '.local/share/com.vercel.cli/auth.json',
    '.config/configstore/firebase-tools.json',
  ],
  ...[
    '.wrangler/config/default.toml',
    '.config/heroku/a',
    '.kube/config',
    '.docker/config.json',
    '.config/containers/auth.json',
  ],
  ...[
    '.terraform.d/credentials.tfrc.json',
    '.terraformrc',
    '.pulumi/credentials.json',
    '.vault-token',
    '.ansible/vault',
    '.pgpass',
  ],
  ...[
    '.my.cnf',
    '.mylogin.cnf',
    '.config/op/config',
    '.password-store/a.gpg',
    '.local/share/keyrings/login.keyring',
    '.kdbx',
  ],
  ...[
    '.config/sops/age/keys.txt',
    '.config/Bitwarden CLI/data.json',
    '.mozilla/firefox/a/logins.json',
    '.thunderbird/a/logins.json',
  ],
  ...[
    '.config/google-chrome/Default/Login Data',
    '.config/chromium/Default/Cookies',
    '.config/BraveSoftware/a',
    '.config/Slack/Cookies',
  ],
  ...[
    '.config/Code/User/globalStorage/state.vscdb',
    '.config/JetBrains/a/c.kdbx',
    '.claude/.credentials.json',
    '.claude.json',
  ],
  ...[
    '.codex/auth.json',
    '.gemini/oauth_creds.json',
    '.config/github-copilot/hosts.json',
    '.local/share/opencode/auth.json',
  ],
  ...[
    '.aider.conf.yml',
    '.continue/config.json',
    '.huggingface/token',
    '.cache/huggingface/token',
    '.kaggle/kaggle.json',
  ],
  ...[
    '.config/wandb/settings',
    '.jupyter/jupyter_server_config.json',
    '.termaite/credentials.json',
    '.env',
    '.envrc',
    '.bashrc',
  ],
  ...[
    '.profile',
    '.zshrc',
    '.bash_history',
    '.zsh_history',
    '.python_history',
    '.psql_history',
    '.lesshst',
    '.viminfo',
  ],
  ...['.android/adbkey', '.android/debug.keystore', '.config/systemd/user/a.service', '.config/autostart/a.desktop'],
  ...['Documents/passwords.txt', 'Library/Keychains/login.keychain', 'src/another/.env', 'another/.git/config'],
  ...[
    '.nvm/versions/node/v22.0.0/etc/npmrc',
    '.pyenv/versions/3.12.0/pip.conf',
    '.volta/tools/image/node/22.0.0/etc/npmrc',
  ],
  ...['.local/share/pnpm/rc', '.julia/servers/a/auth.toml', '.config/mise/config.toml', '.opam/config', 'bin/.key'],
]

const secret = 'made-up-secret'

/** A home full of keys, another user's home, and files of services, all readable for the user outside. */
function planted(t: TestContext, user: WallUser) {
  const grounds = groundsOf(t, user)
  const { base, home } = grounds
  const running = `/run/${base.split('/').at(-1)}`
  const others = [join(base, 'other/.ssh/id_rsa'), join(base, 'other/notes'), join(base, 'lib/service/state')]
  if (process.getuid?.() === 0) others.push(join(running, 'secrets'))
  t.after(() => rmSync(running, { recursive: true, force: true }))
  const paths = [...keyFiles.map((name) => join(home, name)), ...others]
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, secret)
  }
  // A project's links lead nowhere.
  symlinkSync(join(home, '.ssh'), join(grounds.root, 'link'))
  symlinkSync(join(home, '.aws/credentials'), join(grounds.root, 'credentials'))
  const linked = ['link/id_ed25519', 'credentials'].map((name) => join(grounds.root, name))
  if (user.id !== undefined) give(base, user.id)
  return { ...grounds, paths: [...paths, ...linked] }
}

for (const user of wallUsers)
  test(`no planted key is read behind the wall, as ${user.name}`, { skip: user.skip }, async (t) => {
    const { root, home, paths } = planted(t, user)
    assert.ok(keyFiles.length >= 120, `${keyFiles.length} places of keys`)
    const looking = `while IFS= read -r path; do grep -qs ${secret} "$path" && echo "$path"; done <<'EOF'\n${paths.join('\n')}\nEOF\ntrue`
    const outside = spawnSync('bash', ['-c', looking], {
      encoding: 'utf8',
      ...(user.id !== undefined && { uid: user.id, gid: user.id }),
    })
    assert.deepEqual(outside.stdout.trim().split('\n'), paths, 'without a wall')
    const PATH = `${join(home, 'bin')}:${join(home, '.cargo/bin')}:${process.env.PATH}`
    for (const level of [{ project: 'read', git: 'read', sockets: false }, { sockets: true }] as const) {
      const [ran] = await runBehindWall(user, { root, home, ...level }, [looking], { env: { PATH } })
      // A file in a folder of the PATH is shown with the programs beside it.
      assert.deepEqual([ran!.code, ran!.out, ran!.err], [0, `${join(home, 'bin/.key')}\n`, ''])
    }
  })

for (const user of wallUsers)
  test(
    `behind the wall a write succeeds in the places for it, and fails everywhere else, as ${user.name}`,
    { skip: user.skip },
    async (t) => {
      const { base, root, home } = groundsOf(t, user)
      const own = join(home, '.termaite/projects/p/home')
      mkdirSync(own, { recursive: true })
      mkdirSync(join(home, '.nvm'))
      if (user.id !== undefined) give(base, user.id)
      const places = [
        '/',
        '/usr',
        '/etc',
        '/var',
        '/var/tmp',
        '/home',
        '/opt',
        '/sys',
        home,
        join(home, '.termaite'),
        join(home, '.nvm'),
        base,
      ]
      const tried = [...places, own, root, '/tmp']
        .map((place) => `echo x > '${place}/written' && echo '${place}'`)
        .join('\n')
      const at = async (limits: Parameters<typeof runBehindWall>[1]) =>
        (await runBehindWall(user, limits, [tried]))[0]!.out
      assert.equal(await at({ root, home, writable: [own] }), `${own}\n${root}\n/tmp\n`)
      assert.equal(await at({ root, home, project: 'read', git: 'read', readable: [own] }), '/tmp\n')
      assert.deepEqual([existsSync(join(own, 'written')), existsSync(join(root, 'written'))], [true, true])
    },
  )

for (const user of wallUsers)
  test(`a command leaves no file behind that runs as its owner, as ${user.name}`, { skip: user.skip }, async (t) => {
    const { root, home } = groundsOf(t, user)
    const ways = [
      'cp /bin/true a; chmod u+s a; chmod 4755 a',
      'install -m 4755 /bin/true b',
      `perl -e 'use Fcntl; sysopen(my $f, "c", O_CREAT|O_WRONLY, 04755); mkdir "d", 04755; chmod 06755, "a"'`,
      `python3 -c 'import os; os.open("e", os.O_CREAT | os.O_WRONLY, 0o4755)'`,
      'tar cf t.tar --mode=4755 a; mkdir f; tar xpf t.tar -C f',
    ]
    await runBehindWall(user, { root, home }, ways)
    const left = spawnSync('find', [root, '-perm', '/4000'], { encoding: 'utf8' })
    assert.deepEqual([left.stdout, left.status, statSync(join(root, 'a')).isFile()], ['', 0, true])
  })

test('a program of the person’s own sees the machine, and no key in it', { skip: wallUsers[0]!.skip }, async (t) => {
  const { root, home, base } = groundsOf(t, wallUsers[0]!)
  for (const path of ['home/.ssh/id_rsa', 'home/.config/own/settings', 'data']) {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), `${path}\n`)
  }
  const script = `cat ${home}/.config/own/settings ${base}/data; ls -A ${home}/.ssh /run; echo x > ${home}/written || echo refused`
  const [ran] = await runBehindWall(wallUsers[0]!, { root, home, whole: true, sockets: true }, [script])
  assert.deepEqual([ran!.code, ran!.out], [0, `home/.config/own/settings\ndata\n/run:\n\n${home}/.ssh:\nrefused\n`])
})

const flapping = `
const { createServer } = require('node:net')
const { chmodSync, mkdirSync, rmSync } = require('node:fs')
const [folder, many] = process.argv.slice(1)
for (const name of ['closed', 'open']) mkdirSync(folder + '/' + name, { mode: name === 'closed' ? 0o700 : 0o755 })
let first = true
async function flap(at) {
  for (;;) {
    const path = folder + '/' + (at % 2 ? 'closed' : 'open') + '/' + at + '.sock'
    const server = createServer().on('error', () => process.exit())
    await new Promise((done) => server.listen(path, done))
    try { chmodSync(path, 0o777) } catch {}
    if (at === 0 && first) console.log('ready'), (first = false)
    await new Promise((done) => setTimeout(done, Math.random() * 20))
    await new Promise((done) => server.close(done))
    rmSync(path, { force: true })
  }
}
for (let at = 0; at < Number(many); at++) flap(at)
`

const others = process.getuid?.() === 0 ? wallUsers[0]!.skip : 'only root can be another user'

test(
  'sockets of other users that come and go keep no command from running',
  { skip: others, timeout: 600_000 },
  async (t) => {
    const { root, home } = groundsOf(t, wallUsers[0]!)
    mkdirSync(join(root, 'sockets'))
    chmodSync(join(root, 'sockets'), 0o777)
    const [many, commands] = sized([40, 25], [200, 500])
    const flapper = spawn(process.execPath, ['-e', flapping, join(root, 'sockets'), String(many)], {
      ...{ uid: 61_234, gid: 61_234, stdio: ['ignore', 'pipe', 'inherit'] },
    })
    t.after(() => flapper.kill('SIGKILL'))
    await once(flapper.stdout, 'data')
    const scripts = Array.from({ length: commands }, (_, at) => `echo ${at}`)
    const ran = await runBehindWall(wallUsers[0]!, { root, home, sockets: true }, scripts)
    assert.deepEqual(
      ran.map(({ code, out, err }) => [code, out, err]),
      scripts.map((_, at) => [0, `${at}\n`, '']),
    )
  },
)

test(
  'git has the person’s name and taste behind the wall, and none of the programs and logins',
  { skip: wallUsers[0]!.skip },
  async (t) => {
    const { base, root, home } = groundsOf(t, wallUsers[0]!)
    const settings = [
      '[user]\n\tname = A \\"B\\" \\\\ C\n\temail = a@b.example\n[init]\n\tdefaultBranch = trunk\n[core]\n\tpager = evil\n\texcludesFile = ~/ignored',
      '[credential]\n\thelper = store\n[url "https://me:k@x.example/"]\n\tinsteadOf = https://x.example/',
      '[http]\n\textraHeader = Authorization: k\n[alias]\n\tx = !evil\n[commit]\n\tgpgSign\n[include]\n\tpath = more\n',
    ]
    writeFileSync(join(home, '.gitconfig'), settings.join('\n'))
    writeFileSync(join(home, 'more'), '[pull]\n\trebase = true\n[core]\n\tsshCommand = evil\n')
    writeFileSync(join(home, 'ignored'), '*.ignored\n')
    spawnSync('git', ['init', '-q', root])
    writeFileSync(join(root, 'a.ignored'), '')
    const own = join(base, 'home/.termaite')
    const file = await plainGitSettings({ root, env: { PATH: process.env.PATH, HOME: home }, own })
    const listed = spawnSync('git', ['config', '--file', file!, '--list'], { encoding: 'utf8' }).stdout
    assert.deepEqual(listed.split('\n'), [
      'user.name=A "B" \\ C',
      'user.email=a@b.example',
      'init.defaultbranch=trunk',
      'commit.gpgsign=true',
      'pull.rebase=true',
      `core.excludesfile=${join(dirname(file!), 'ignore')}`,
      '',
    ])
    assert.equal(readFileSync(join(dirname(file!), 'ignore'), 'utf8'), '*.ignored\n')
    const script = `export GIT_CONFIG_GLOBAL=${file}; git status --porcelain; git commit -q --no-gpg-sign --allow-empty -m x; git log -1 --format='%an %ae'; git config --global user.name other || echo kept`
    const [ran] = await runBehindWall(wallUsers[0]!, { root, home, readable: [dirname(file!)] }, [script])
    assert.deepEqual([ran!.code, ran!.out], [0, 'A "B" \\ C a@b.example\nkept\n'])
  },
)
