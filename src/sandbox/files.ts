/**
 * Files that people attach, as Slack keeps them: a description that goes with the message, and the bytes for whoever has the
 * app's token and its scope. https://docs.slack.dev/reference/objects/file-object
 */

/** What somebody picks on the page. */
export interface Attachment {
  name: string
  mimetype: string
  bytes: Buffer
}

export interface FileObject {
  id: string
  name: string
  mimetype: string
  size: number
  mode: "hosted"
  user: string
  url_private: string
  url_private_download: string
}

/** All that is told of a file of a channel with other organisations, until the app asks. */
export interface FileStub {
  id: string
  mode: "file_access"
  file_access: "check_file_info"
  user: ""
}

/** A file, and where it was attached. */
export interface Kept {
  file: FileObject
  bytes: Buffer
  channel: string
}

export class Files {
  readonly #kept = new Map<string, Kept>()

  /** `url`: where this Slack listens, with a slash at the end. */
  keep(
    { name, mimetype, bytes }: Attachment,
    { id, user, channel, url }: { id: string; user: string; channel: string; url: string },
  ): FileObject {
    const address = `${url}files-pri/${id}/${encodeURIComponent(name)}`
    const addresses = { url_private: address, url_private_download: `${address}?download=1` }
    const file: FileObject = { id, name, mimetype, size: bytes.length, mode: "hosted", user, ...addresses }
    this.#kept.set(id, { file, bytes, channel })
    return file
  }

  get(id: string): Kept | undefined {
    return this.#kept.get(id)
  }
}

export const stubOf = ({ id }: FileObject): FileStub => ({
  id,
  mode: "file_access",
  file_access: "check_file_info",
  user: "",
})
