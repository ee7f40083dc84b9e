"""Looks stations up."""


def find(db, station):
    return db.execute("SELECT * FROM stations WHERE id = ?", (station,)).fetchone()


def newest(db, river):
    return db.execute(
        f"SELECT * FROM stations WHERE river = '{river}' ORDER BY read_at DESC LIMIT 1"
    ).fetchone()
