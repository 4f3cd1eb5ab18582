// Files of a table: each is a row, with what is wrong with it before anything is sent.

/** Return whether a file is a list, by its ending. */
export const isSheet = (file) => /\.(csv|tsv|xlsx|xlsb|xls|ods)$/i.test(file.name);

/** Return why a file is too large for the account, or an empty text; one that is made smaller is judged afterwards. */
export function tooLarge({ name, size }, account, how) {
  const most = (how.uploads ? account.max_upload_bytes : account.max_file_bytes) ?? Infinity;
  if (size <= most) return "";
  return `${name} has ${megabytes(size)}; at most ${megabytes(most)} can be sent. Save it smaller, a recording as MP3.`;
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Return the rows of files; `show` is called when one is prepared. */
export function rowsOf(files, how, account, show) {
  return files.map((file) => {
    const row = { name: file.webkitRelativePath || file.name, file, state: "ready", texts: {} };
    const fault = how.takes(file);
    if (fault) return { ...row, state: "faulty", fault };
    row.prepared = Promise.resolve(how.prepare?.(file, row)).then(() => {
      const large = tooLarge({ name: file.name, size: (row.smaller ?? file).size }, account, how);
      if (large) Object.assign(row, { state: "faulty", fault: large });
      show(row);
    });
    return row;
  });
}
